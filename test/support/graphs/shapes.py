"""The graphs of shapes.ts."""

import asyncio
import json
import operator
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from langchain_core.callbacks import AsyncCallbackHandler, AsyncCallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessageChunk, AnyMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import RunnableConfig
from langgraph.config import get_stream_writer
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.runtime import Runtime
from langgraph.types import Command, Send, interrupt
from langgraph_sdk.runtime import ServerRuntime
from ledger_node import record_execution
from pydantic import BaseModel, Field

# Pydantic makes no schema of `typing.TypedDict` before Python 3.12.
from typing_extensions import TypedDict


def single(state: type, name: str, node: Any, context: type | None = None) -> Any:
    """A graph of one node."""
    return StateGraph(state, context_schema=context).add_node(name, node).add_edge(START, name).compile()


class Address(TypedDict, total=False):
    street: str
    # Where letters go.
    city: str


class Typed(TypedDict, total=False):
    address: Address
    tags: Annotated[list[str], operator.add]
    messages: Annotated[list[AnyMessage], add_messages]


class TypedConfig(TypedDict, total=False):
    model: Literal["small", "large"]


async def file(state: Typed, config: RunnableConfig) -> Typed:
    return {"tags": [f"filed by {config['configurable'].get('model')}"]}


typed = single(Typed, "file", file, TypedConfig)


class Configuration(BaseModel):
    given: str = ""
    from_context: str = ""


class Model(BaseModel):
    model: str | None = None


def visible(configurable: dict[str, Any]) -> dict[str, Any]:
    """The keys that are none of the library's."""
    return {key: value for key, value in configurable.items() if not key.startswith("__")}


async def tell(state: Configuration, config: RunnableConfig, runtime: Runtime[Model]) -> dict[str, str]:
    """Returns its configuration, from both places that may have it."""
    given = json.dumps(visible(config["configurable"]), default=str)
    return {"given": given, "from_context": str(runtime.context and runtime.context.model)}


configured = single(Configuration, "tell", tell, Model)


class Steps(TypedDict, total=False):
    steps: Annotated[list[str], operator.add]


async def factory(config: RunnableConfig) -> Any:
    """Makes a graph for each run, from the run's configuration."""
    count = config.get("configurable", {}).get("steps", 1)
    names = [f"step_{index + 1}" for index in range(count)]
    graph = StateGraph(Steps)
    for name in names:
        graph.add_node(name, lambda _, name=name: {"steps": [name]})
    for source, target in zip([START, *names], [*names, END], strict=True):
        graph.add_edge(source, target)
    return graph


class Informed(TypedDict, total=False):
    given: Any


async def informed(config: RunnableConfig, runtime: ServerRuntime) -> Any:
    """A graph with a node that shows what its function was given."""
    execution = runtime.execution_runtime
    configurable = visible(config.get("configurable", {}))
    given = {
        "configurable": {key: value for key, value in configurable.items() if isinstance(value, str | int)},
        "owner": config.get("metadata", {}).get("owner"),
        "context": execution and execution.context,
        "accessContext": runtime.access_context,
        "executionRuntime": execution and {"context": execution.context},
    }
    return single(Informed, str(configurable.get("node", "unnamed")), lambda _: {"given": given})


@task
async def double(value: int, config: RunnableConfig) -> int:
    ended = await record_execution("double", config)
    await ended()
    return value * 2


@entrypoint()
async def functional(given: dict[str, int], *, previous: dict[str, Any] | None = None) -> dict[str, Any]:
    """The functional API: a task, an interrupt in the middle, and what it returned the last time."""
    doubled = await double(given["value"])
    answer = interrupt(f"Is {doubled} right?")
    return {"doubled": doubled, "answer": answer, "previous": previous["doubled"] if previous else None}


class Routed(TypedDict, total=False):
    path: Annotated[list[str], operator.add]
    items: list[int]
    total: Annotated[int, operator.add]


class Item(TypedDict):
    item: int


async def decide(state: Routed) -> Command[Literal["add", "aside"]]:
    """`Command` in a node, `Send` to as many tasks as there are items."""
    sent = [Send("add", Item(item=item)) for item in state.get("items", [])]
    return Command(update={"path": ["decide"]}, goto=sent)


async def add(given: Item) -> Routed:
    return {"path": [f"add {given['item']}"], "total": given["item"]}


async def aside(state: Routed) -> Routed:
    return {"path": ["aside"]}


routed = (
    StateGraph(Routed)
    .add_node("decide", decide)
    .add_node("add", add)
    .add_node("aside", aside)
    .add_edge(START, "decide")
    .compile()
)


class Inner(TypedDict, total=False):
    note: str
    messages: Annotated[list[AnyMessage], add_messages]


model = FakeListChatModel(responses=["one two three"], sleep=0.001)


async def think(state: Inner, config: RunnableConfig) -> Inner:
    get_stream_writer()({"at": "think"})
    return {"note": "thought", "messages": [await model.ainvoke("think", config)]}


async def question(state: Inner) -> Inner:
    return {"note": f"answered {interrupt('Deep enough?')}"}


middle = (
    StateGraph(Inner)
    .add_node("deepest", single(Inner, "think", think))
    .add_node("question", question)
    .add_edge(START, "deepest")
    .add_edge("deepest", "question")
    .compile()
)

# A graph in a graph in a graph, which asks in the middle one.
deep = single(Inner, "middle", middle)


async def delegate(state: Routed, config: RunnableConfig) -> Routed:
    """Runs a graph on a thread of its own for each item, all at once."""
    configurable = config["configurable"]

    async def ask(item: int) -> int:
        own = {**configurable, "thread_id": f"{configurable['thread_id']}-{item}", "checkpoint_ns": ""}
        return (await routed.ainvoke({"items": [item]}, {**config, "configurable": own}))["total"]

    return {"total": sum(await asyncio.gather(*(ask(item) for item in state["items"])))}


delegating = single(Routed, "delegate", delegate)


class Crowd(TypedDict, total=False):
    sizes: Annotated[list[int], operator.add]


inside = 0


async def enter(_: Crowd) -> Crowd:
    """Notes how many are inside."""
    global inside
    inside += 1
    size = inside
    await asyncio.sleep(0.1)
    inside -= 1
    return {"sizes": [size]}


# Six nodes at once, as far as the config lets it.
crowd = (
    StateGraph(Crowd)
    .add_node("enter", enter)
    .add_conditional_edges(START, lambda _: [Send("enter", {}) for _ in range(6)], ["enter"])
    .compile()
)


class Unkept(TypedDict, total=False):
    answers: Annotated[list[str], operator.add]


async def ask_once(state: Unkept, config: RunnableConfig) -> Unkept:
    return {"answers": ["not asked" if config["configurable"].get("unasked") else interrupt("Which?")]}


# Would keep no checkpoints, were it not served: as a node of another graph it keeps none.
unkept = StateGraph(Unkept).add_node("ask", ask_once).add_edge(START, "ask").compile(checkpointer=False)

outer = single(Unkept, "unkept", unkept)


class Vote(TypedDict, total=False):
    vote: float


async def ask_for_vote(state: Vote) -> Vote:
    """Describes the form of an answer."""
    return {"vote": interrupt("How many?", response_schema=Annotated[float, Field(le=10)])}


vote = single(Vote, "ask", ask_for_vote)


class SlowListener(AsyncCallbackHandler):
    """Listens to a model on behalf of the user, and is slower than it."""

    async def on_llm_new_token(self, token: str, **_: Any) -> None:
        await asyncio.sleep(0.005)


class FastModel(BaseChatModel):
    """Answers with fifty words, one a token."""

    @property
    def _llm_type(self) -> str:
        return "fast"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError("It streams")

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for index in range(50):
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"word-{index} "))


overheard_model = FastModel(callbacks=[SlowListener()])


async def say(state: Typed, config: RunnableConfig) -> Typed:
    return {"messages": [await overheard_model.ainvoke(state["messages"], config)]}


overheard = single(Typed, "say", say)


async def say_whole(state: Typed) -> Typed:
    """Returns a message of the class of pieces, as models do whose answer was streamed where it isn't shown."""
    return {"messages": [AIMessageChunk(id="whole", content="all at once")]}


whole = single(Typed, "say", say_whole)
