"""The examples agent.ts, approval.ts and pipeline.ts in Python."""

import asyncio
import json
import operator
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any, Literal

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.graph import START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import BaseModel
from typing_extensions import TypedDict

STEPS = 10
TOKEN_DELAY_SECONDS = 0.015


def get_weather(city: str) -> str:
    """Current weather of a city"""
    return f"It is {10 + sum(map(ord, city)) % 20} °C and clear in {city}."


def add(a: float, b: float) -> str:
    """Adds two numbers"""
    return f"{a:g} + {b:g} = {a + b:g}."


class RuleBasedModel(BaseChatModel):
    """Calls the tool that a question is for, and otherwise answers by itself, a word per token."""

    @property
    def _llm_type(self) -> str:
        return "rule-based"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=answer(messages))])

    async def _astream(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        whole = answer(messages)
        calls = [
            {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"], "index": index}
            for index, call in enumerate(whole.tool_calls)
        ]
        if calls:
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))
        for token in re.findall(r"\S+\s*", str(whole.content)):
            await asyncio.sleep(TOKEN_DELAY_SECONDS)
            yield ChatGenerationChunk(message=AIMessageChunk(content=token))


def answer(messages: list[BaseMessage]) -> AIMessage:
    last = messages[-1]
    if isinstance(last, ToolMessage):
        return AIMessage(f"Here is what I found: {last.text} Is there anything else?")
    identity = f"call-{len(messages)}"
    if asked := re.search(r"weather in (\w+)", last.text):
        return AIMessage("", tool_calls=[ToolCall(name="get_weather", args={"city": asked[1]}, id=identity)])
    if asked := re.search(r"(\d+) \+ (\d+)", last.text):
        numbers = {"a": int(asked[1]), "b": int(asked[2])}
        return AIMessage("", tool_calls=[ToolCall(name="add", args=numbers, id=identity)])
    return AIMessage(f'You said: "{last.text}". Ask me about the weather in a city, or for a sum like 2 + 3.')


agent = create_agent(RuleBasedModel(), tools=[get_weather, add], name="agent")


class Refund(BaseModel):
    amount: float = 0
    draft: str = ""
    decision: Literal["approved", "rejected", "open"] = "open"
    outcome: str = ""


def review(state: Refund) -> Command[Literal["pay", "drop"]]:
    approved = interrupt({"question": "Approve this refund?", "draft": state.draft}) in (True, "approve", "approved")
    decision = "approved" if approved else "rejected"
    return Command(goto="pay" if approved else "drop", update={"decision": decision})


approval = (
    StateGraph(Refund)
    .add_node("prepare", lambda state: {"draft": f"Refund of ${state.amount:g}"})
    .add_node(review)
    .add_node("pay", lambda state: {"outcome": f"paid ${state.amount:g}"})
    .add_node("drop", lambda _: {"outcome": "dropped"})
    .add_edge(START, "prepare")
    .add_edge("prepare", "review")
    .compile(name="approval")
)


class Progress(TypedDict, total=False):
    step_ms: float
    done: Annotated[list[str], operator.add]


def step(name: str) -> Callable[[Progress], Awaitable[Progress]]:
    async def node(state: Progress) -> Progress:
        await asyncio.sleep(state.get("step_ms", 200) / 1000)
        return {"done": [name]}

    return node


names = [f"step_{number}" for number in range(1, STEPS + 1)]
pipeline = (
    StateGraph(Progress)
    .add_sequence([(name, step(name)) for name in names])
    .add_edge(START, names[0])
    .compile(name="pipeline")
)
