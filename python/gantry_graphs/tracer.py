"""Sends the server's own runs to its own trace API, by the public client: one project per graph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackManager, BaseCallbackHandler
from langchain_core.tracers.langchain import LangChainTracer
from langchain_core.tracers.schemas import Run
from langsmith import Client

from .metadata import PUBLIC_NAMES, PublicMetadata

# The start and the id of a run, in its place in a trace: the trace's first run, then each one down to it.
_PLACE = re.compile(r"\d{8}T\d{12}Z([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})", re.IGNORECASE)


class RunTracer:
    """The clients of the trace API, one for each tenant."""

    def __init__(self, api_url: str) -> None:
        self._api_url = api_url
        self._clients: dict[str, Client] = {}

    def callbacks(self, request: dict[str, Any]) -> AsyncCallbackManager | list[BaseCallbackHandler]:
        """Callbacks that trace one run, below the run of a caller who names its own in `langsmith-trace`."""
        tracer = self.callback(request)
        position = request["headers"].get("langsmith-trace", "").strip()
        places = [_PLACE.fullmatch(place) for place in position.split(".")]
        ids = [UUID(place[1]) for place in places if place]
        if len(ids) != len(places):
            return [tracer]
        tracer.order_map[ids[-1]] = (ids[0], position)
        manager = AsyncCallbackManager(handlers=[], parent_run_id=ids[-1])
        manager.add_handler(tracer)
        return manager

    def callback(self, request: dict[str, Any]) -> LangChainTracer:
        """A callback that traces one run into the project named after its graph."""
        asked = request["kwargs"].get("langsmith_tracer") or {}
        client = self._client(request["tenantId"], request.get("traceKey"))
        tracer = _PublicTracer(project_name=request["graphId"], client=client, example_id=asked.get("example_id"))
        tracer.shown = PublicMetadata(request)
        return tracer

    def _client(self, tenant_id: str, key: str | None) -> Client:
        known = self._clients.get(tenant_id)
        if known is None:
            known = Client(api_url=self._api_url, api_key=key or "none", workspace_id=tenant_id)
            self._clients[tenant_id] = known
        # Uploads with the newest run's key: those of earlier runs expire before it.
        known.api_key = key or "none"
        return known


class _PublicTracer(LangChainTracer):
    """A tracer without the keys of `configurable` that the libraries copy into the metadata of every trace."""

    shown: PublicMetadata

    def copy_with_metadata_defaults(
        self, *, metadata: Mapping[str, str] | None = None, tags: list[str] | None = None
    ) -> LangChainTracer:
        given = (metadata or {}).items()
        defaults = {name: value for name, value in given if name in PUBLIC_NAMES or name.startswith("ls_")}
        copy = super().copy_with_metadata_defaults(metadata=defaults or None, tags=tags)
        assert isinstance(copy, _PublicTracer)
        copy.shown = self.shown
        return copy

    def _start_trace(self, run: Run) -> None:
        if metadata := run.extra.get("metadata"):
            # A copy: the libraries hand the same dict to every callback, and the tracer adds the usage of tokens to it.
            run.extra = {**run.extra, "metadata": dict(self.shown.of(metadata))}
        super()._start_trace(run)
