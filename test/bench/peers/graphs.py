"""The graphs of the bench, step for step, for servers that run Python: see ../graphs and examples/graphs/pipeline.ts."""

import asyncio
import operator
from collections.abc import AsyncIterator
from typing import Annotated, Any, TypedDict

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph import END, START, MessagesState, StateGraph

STEPS = 10
TOKENS = [f"word-{index} " for index in range(200)]


class PipelineState(TypedDict, total=False):
    step_ms: int
    done: Annotated[list[str], operator.add]


def step(name: str):
    async def run(state: PipelineState) -> PipelineState:
        await asyncio.sleep(state.get("step_ms", 200) / 1000)
        return {"done": [name]}

    return run


names = [f"step_{index + 1}" for index in range(STEPS)]
pipeline = (
    StateGraph(PipelineState)
    .add_sequence([(name, step(name)) for name in names])
    .add_edge(START, names[0])
    .add_edge(names[-1], END)
    .compile(name="pipeline")
)


class LoopState(TypedDict, total=False):
    turns: int
    turn: int


async def count(state: LoopState) -> LoopState:
    return {"turn": state.get("turn", 0) + 1}


loop = (
    StateGraph(LoopState)
    .add_node("step", count)
    .add_edge(START, "step")
    .add_conditional_edges("step", lambda state: "step" if state["turn"] < state["turns"] else END, ["step", END])
    .compile(name="loop")
)


class PacedModel(BaseChatModel):
    """A model that pauses between its tokens; without pauses, only their transport is measured."""

    pause_s: float = 0

    @property
    def _llm_type(self) -> str:
        return "paced"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(id="answer", content="".join(TOKENS)))])

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for token in TOKENS:
            if self.pause_s:
                await asyncio.sleep(self.pause_s)
            chunk = ChatGenerationChunk(message=AIMessageChunk(id="answer", content=token))
            if run_manager:
                await run_manager.on_llm_new_token(token, chunk=chunk)
            yield chunk


def answering(name: str, pause_s: float):
    model = PacedModel(pause_s=pause_s)

    async def say(state: MessagesState) -> dict[str, list[BaseMessage]]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    return StateGraph(MessagesState).add_node("say", say).add_edge(START, "say").add_edge("say", END).compile(name=name)


tokens = answering("tokens", 0)
chat = answering("chat", 0.02)
