"""Stream transformers, of the graph and of its module: each has a channel of its own, and one changes what is emitted."""

from typing import Any, TypedDict

from langgraph.config import get_stream_writer
from langgraph.graph import START, StateGraph
from langgraph.stream import StreamChannel, StreamTransformer


class State(TypedDict, total=False):
    said: str


class Steps(StreamTransformer):
    def __init__(self, scope: tuple[str, ...] = ()) -> None:
        super().__init__(scope)
        self._steps: StreamChannel[str] = StreamChannel("steps")

    def init(self) -> dict[str, Any]:
        return {"steps": self._steps}

    def process(self, event: Any) -> bool:
        if event["method"] == "updates":
            self._steps.push(next(iter(event["params"]["data"])))
        return True

    def finalize(self) -> None:
        self._steps.push("end")


class Redacted(StreamTransformer):
    """Its work takes time, and is awaited."""

    def init(self) -> dict[str, Any]:
        self._count: StreamChannel[int] = StreamChannel("redacted")
        return {"redacted": self._count}

    def process(self, event: Any) -> bool:
        raise NotImplementedError("It is awaited")

    async def aprocess(self, event: Any) -> bool:
        if event["method"] != "custom":
            return True
        if event["params"]["data"] == "noise":
            return False
        event["params"]["data"] = event["params"]["data"].replace("secret", "***")
        self._count.push(1)
        return True


def stream_transformers() -> list[Any]:
    return [Redacted()]


def say(_: State) -> State:
    write = get_stream_writer()
    for text in ("a secret", "noise"):
        write(text)
    return {"said": "done"}


graph = StateGraph(State).add_node("say", say).add_edge(START, "say").compile(transformers=[Steps])
