"""The graphs of behaviours.ts."""

import asyncio
import json
import re
import time
from pathlib import Path
from typing import Annotated, Any, TypedDict

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.config import get_stream_writer
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import interrupt
from ledger_node import record_execution
from pydantic import BaseModel


def single(state: type, name: str, node: Any, graph: str) -> Any:
    """A graph of one node."""
    return StateGraph(state).add_node(name, node).add_edge(START, name).compile(name=graph)


class Blocking(TypedDict, total=False):
    block_ms: float
    # Computes all the while, in calls that hold the interpreter's lock; else it only holds the event loop.
    busy: bool
    # Path of a file whose existence ends it, not before `block_ms`; empty: the time alone does.
    until_file: str
    # Time that the node awaits afterwards, unless it is cancelled.
    linger_ms: float
    blocked_ms: float


async def spin(state: Blocking, config: RunnableConfig) -> Blocking:
    """Holds the event loop of its process."""
    ended = await record_execution("spin", config)
    since = time.monotonic()
    until = state.get("until_file", "")
    while (time.monotonic() - since) * 1000 < state.get("block_ms", 0) or (until and not Path(until).exists()):
        if state.get("busy"):
            re.match(r"(a+)+$", "a" * 22 + "b")
        else:
            time.sleep(0.05)
    await asyncio.sleep(state.get("linger_ms", 0) / 1000)
    await ended()
    return {"blocked_ms": round((time.monotonic() - since) * 1000)}


block = single(Blocking, "spin", spin, "block")


class Failing(TypedDict, total=False):
    message: str
    name: str
    passed: bool


def throw(state: Failing) -> Failing:
    error = type(state.get("name", "TypeError"), (TypeError,), {})
    raise error(state.get("message", "The tool is broken"))


# The first node writes, the second one throws.
fail = (
    StateGraph(Failing)
    .add_node("pass", lambda _: {"passed": True})
    .add_node("throw", throw)
    .add_edge(START, "pass")
    .add_edge("pass", "throw")
    .compile(name="fail")
)


class Sleeping(BaseModel):
    sleep_ms: float = 0
    note: str = ""


async def nap(state: Sleeping, config: RunnableConfig) -> dict[str, str]:
    ended = await record_execution("nap", config)
    await asyncio.sleep(state.sleep_ms / 1000)
    await ended()
    return {"note": f"{state.note} slept"}


sleep = single(Sleeping, "nap", nap, "sleep")


class Asking(BaseModel):
    question: str = "Go on?"
    answer: str = ""


ask = single(Asking, "ask", lambda state: {"answer": str(interrupt(state.question))}, "ask")


class Examining(TypedDict, total=False):
    age: int


def question(_: Examining) -> Examining:
    """Asks until the answer is an age."""
    asked = "How old are you?"
    while True:
        answer = str(interrupt(asked))
        if answer.isdigit():
            return {"age": int(answer)}
        asked = f'"{answer}" is no age. How old are you?'


examine = single(Examining, "ask", question, "examine")


class Consenting(BaseModel):
    answers: list[str] = []
    nap_ms: float = 0


async def stay(node: str, ms: float, config: RunnableConfig) -> None:
    ended = await record_execution(node, config)
    await asyncio.sleep(ms / 1000)
    await ended()


async def ask_twice(_: Consenting, config: RunnableConfig) -> dict[str, Any]:
    """Asks twice. An answer says how long this node takes after it, and how long the next node takes."""
    answers = []
    for asked in ("Begin?", "Continue?"):
        answer = interrupt(asked)
        if answer.get("ask_ms"):
            await stay("ask", answer["ask_ms"], config)
        answers.append(answer)
    return {"answers": [answer["says"] for answer in answers], "nap_ms": answers[1].get("nap_ms", 0)}


async def rest(state: Consenting, config: RunnableConfig) -> dict[str, Any]:
    await stay("nap", state.nap_ms, config)
    return {}


consent = (
    StateGraph(Consenting)
    .add_node("ask", ask_twice)
    .add_node("nap", rest)
    .add_edge(START, "ask")
    .add_edge("ask", "nap")
    .compile(name="consent")
)


class Nested(TypedDict, total=False):
    text: str


inner = single(Nested, "shout", lambda state: {"text": state["text"].upper()}, "inner")
nested = (
    StateGraph(Nested)
    .add_node("inner", inner)
    .add_node("finish", lambda state: {"text": f"{state['text']}!"})
    .add_edge(START, "inner")
    .add_edge("inner", "finish")
    .compile(name="nested")
)

# Says one fixed sentence, a character a token.
model = FakeListChatModel(responses=["one two three four five six seven eight nine ten"], sleep=0.003)


async def say(state: MessagesState, config: RunnableConfig) -> dict[str, Any]:
    return {"messages": [await model.ainvoke(state["messages"], config)]}


talk = single(MessagesState, "say", say, "talk")


class Custom(TypedDict, total=False):
    count: int
    bytes: int


def write(state: Custom) -> Custom:
    """Writes events of its own: as large as its input asks, else with characters that need care on the wire."""
    size = state.get("bytes", 0)
    text = "x" * size if size else "a\nb\u2028c ✓"
    for index in range(state.get("count", 3)):
        get_stream_writer()({"index": index, "text": text})
    return {}


custom = single(Custom, "write", write, "custom")


class Desk(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    approved: bool


clerk = FakeListChatModel(responses=["Your refund is on its way."], sleep=0.003)


def approve(state: Desk) -> Desk:
    decision = interrupt({"question": "Approve?", "request": state["messages"][-1].text})
    return {"approved": decision == "yes" or (isinstance(decision, dict) and decision.get("approved") is True)}


async def answer(state: Desk, config: RunnableConfig) -> dict[str, Any]:
    if not state["approved"]:
        return {"messages": [AIMessage("The refund was refused.")]}
    return {"messages": [await clerk.ainvoke(state["messages"], config)]}


# Asks a person before it answers, and talks.
desk = (
    StateGraph(Desk)
    .add_node(approve)
    .add_node(answer)
    .add_edge(START, "approve")
    .add_edge("approve", "answer")
    .compile(name="desk")
)


def repeat(state: MessagesState) -> dict[str, Any]:
    content = state["messages"][-1].content
    return {"messages": [AIMessage(json.dumps(content, separators=(",", ":"), ensure_ascii=False))]}


# Says what it was shown: the content of the last message, block by block.
echo = single(MessagesState, "echo", repeat, "echo")


class Prose(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    words: int
    letter_ms: float


async def tell(state: Prose, config: RunnableConfig) -> dict[str, Any]:
    ended = await record_execution("tell", config)
    text = " ".join(f"w{index}" for index in range(state.get("words", 60)))
    speaker = FakeListChatModel(responses=[text], sleep=state.get("letter_ms", 15) / 1000)
    said = await speaker.ainvoke(state["messages"], config)
    await ended()
    return {"messages": [said]}


# Talks for as long as its input asks, a letter a token, so that there is time to interfere.
prose = single(Prose, "tell", tell, "prose")


@tool
def look_up(city: str) -> str:
    """The weather of a city"""
    if city == "Atlantis":
        raise type("RangeError", (ValueError,), {})("There is no such city")
    return f"Rain in {city}"


class Toolbox(TypedDict, total=False):
    city: str
    weather: str


async def work(state: Toolbox, config: RunnableConfig) -> Toolbox:
    """Calls a tool, as an agent's node would."""
    city = state.get("city", "Oslo")
    call = {"type": "tool_call", "id": f"call-{city}", "name": "look_up", "args": {"city": city}}
    return {"weather": (await look_up.ainvoke(call, config)).text}


toolbox = single(Toolbox, "work", work, "toolbox")
