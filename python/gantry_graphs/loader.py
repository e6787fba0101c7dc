"""The graphs of a langgraph.json, loaded into this process."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any

from langchain_core.runnables.config import var_child_runnable_config
from langgraph.graph import StateGraph
from langgraph.pregel import Pregel
from langgraph.runtime import Runtime

from .modules import load_export, optional_export
from .task_limit import limit_only_nodes
from .unkept import allow_unkept_graphs
from .versions import RUNTIME_KEY

_WHAT_WOULD_BE_RIGHT = "a compiled graph, a StateGraph, or a function that returns or yields one"


class GraphLoader:
    """The graphs by id, or why a graph can't be served."""

    def __init__(self, sources: list[dict[str, Any]]) -> None:
        self._sources = {source["graphId"]: source for source in sources}
        self._values: dict[str, Any] = {}
        self.problems: dict[str, str] = {}

    def load(self) -> None:
        """Imports every module; `problems` has the graphs that fail, and the others are served."""
        allow_unkept_graphs()
        limit_only_nodes()
        for graph_id, source in self._sources.items():
            try:
                self._values[graph_id] = _load(source)
            except BaseException as error:  # a module may raise anything, SystemExit included
                if isinstance(error, KeyboardInterrupt):
                    raise
                self.problems[graph_id] = str(error)

    @property
    def factories(self) -> list[str]:
        """Ids of the graphs that a function makes for each use."""
        return [graph_id for graph_id, value in self._values.items() if not isinstance(value, Pregel)]

    def transformers_of(self, graph_id: str) -> Callable[[], list[Any]] | None:
        """The function of the graph's module that returns stream transformers, if it has one.

        LangGraph's own server finds them by this name.
        """
        exported = optional_export(self._sources[graph_id]["file"], "stream_transformers")
        return exported if callable(exported) else None

    @asynccontextmanager
    async def get(
        self, graph_id: str, config: dict[str, Any], access: str, *, saver: Any, store: Any, context: Any = None
    ) -> AsyncIterator[Any]:
        """The graph for one use. A function that makes it is called each time.

        `access` is what the graph is made for, in the words of the public servers: `threads.create_run`, `threads.read`,
        `threads.update` or `assistants.read`.
        """
        if graph_id not in self._values:
            raise LookupError(self.problems.get(graph_id) or f'Graph "{graph_id}" is not served here')
        value = self._values[graph_id]
        if isinstance(value, Pregel):
            yield _prepared(value, graph_id, saver, store)
            return
        async with _Made(value, config, _runtime(access, store, context, config), store) as made:
            yield _prepared(self._checked(graph_id, made), graph_id, saver, store)

    def _checked(self, graph_id: str, made: Any) -> Pregel[Any]:
        graph = _compiled(made)
        if graph is not None:
            return graph
        raise _refusal(self._sources[graph_id], f"returned {_kind(made)}")


class _Made:
    """The use of what a factory makes, whichever kind of function it is.

    `get_config` and `get_store` work in all code of the factory, also in that after its `yield`. They are those of the run's
    nodes in between.
    """

    def __init__(self, factory: Any, config: dict[str, Any], runtime: Any, store: Any) -> None:
        configurable = {**(config.get("configurable") or {}), RUNTIME_KEY: Runtime(store=store)}
        self._factory = factory
        self._config = {**config, "configurable": configurable}
        self._runtime = runtime
        self._made: Any = None

    async def __aenter__(self) -> Any:
        with _current(self._config):
            self._made = _call_factory(self._factory, self._config, self._runtime)
            if isinstance(self._made, AbstractAsyncContextManager):
                return await self._made.__aenter__()
            if isinstance(self._made, AbstractContextManager):
                return self._made.__enter__()
            return await self._made if inspect.isawaitable(self._made) else self._made

    async def __aexit__(self, *error: Any) -> None:
        # An error that the factory suppresses is still one of the run, or of the call.
        with _current(self._config):
            if isinstance(self._made, AbstractAsyncContextManager):
                await self._made.__aexit__(*error)
            elif isinstance(self._made, AbstractContextManager):
                self._made.__exit__(*error)


@contextmanager
def _current(config: dict[str, Any]) -> Iterator[None]:
    """Makes a config the one that `get_config` returns."""
    token = var_child_runnable_config.set(config)  # type: ignore[arg-type]
    try:
        yield
    finally:
        var_child_runnable_config.reset(token)


def _prepared(graph: Pregel[Any], graph_id: str, saver: Any, store: Any) -> Pregel[Any]:
    update = {"checkpointer": saver, "store": store}
    # The library's default name of a graph.
    return graph.copy(update={**update, "name": graph_id} if graph.name == "LangGraph" else update)


def _load(source: dict[str, Any]) -> Any:
    file, name = source["file"], source["exportName"]
    value = load_export(file, name, _WHAT_WOULD_BE_RIGHT)
    graph = _compiled(value)
    if graph is not None:
        return graph
    if callable(value):
        return value
    raise _refusal(source, f"is {_kind(value)}")


def _compiled(value: Any) -> Pregel[Any] | None:
    """The runnable graph of an exported value, or None when the value is not one."""
    if isinstance(value, Pregel):
        return value
    return value.compile() if isinstance(value, StateGraph) else None


def _runtime(access: Any, store: Any, context: Any, config: dict[str, Any]) -> Any:
    """The second argument of a factory, if the SDK of the project has its type."""
    try:
        from langgraph_sdk import runtime as sdk
    except ImportError:
        return None
    user = (config.get("configurable") or {}).get("langgraph_auth_user")
    if access == "threads.create_run":
        return sdk._ExecutionRuntime(access_context=access, store=store, context=context, user=user)
    return sdk._ReadRuntime(access_context=access, store=store, user=user)


def _call_factory(factory: Any, config: dict[str, Any], runtime: Any) -> Any:
    """Calls a factory with the arguments that it accepts: the config, the runtime, both in either order, or none.

    Parameters of its own keep their defaults. Where none has the name or the type of a config, the first one gets it.
    """
    bound = inspect.signature(factory).bind_partial()
    others = []
    for parameter in bound.signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if "Runtime" in str(parameter.annotation) or parameter.name == "runtime":
            bound.arguments[parameter.name] = runtime
        else:
            others.append(parameter)
    configs = [
        each
        for each in others
        if each.default is each.empty or each.name == "config" or "RunnableConfig" in str(each.annotation)
    ]
    if not configs:
        configs = [each for each in others if each.kind is not each.KEYWORD_ONLY][:1]
    bound.arguments.update({each.name: config for each in configs})
    return factory(*bound.args, **bound.kwargs)


def _refusal(source: dict[str, Any], what: str) -> TypeError:
    return TypeError(f'{source["file"]}: "{source["exportName"]}" {what}; it has to be {_WHAT_WOULD_BE_RIGHT}')


def _kind(value: Any) -> str:
    """The kind of an exported value, for an error message."""
    return "None" if value is None else f"a value of the type {type(value).__name__}"
