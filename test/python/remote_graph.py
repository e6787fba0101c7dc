"""Uses RemoteGraph of the langgraph package as a user would; prints what it got as JSON. Argument: the API's address."""

import json
import sys
import uuid
from typing import Annotated, TypedDict

from langgraph.checkpoint.memory import MemorySaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.pregel.remote import RemoteGraph
from langgraph.types import Command

MAIL = 'call send_mail {"to": "ann", "text": "hi"}'
APPROVE = Command(resume={"decisions": [{"type": "approve"}]})
MODES = ["values", "updates", "messages", "debug", "tasks", "checkpoints", "custom"]


def say(text):
    return {"messages": [{"role": "user", "content": text}]}


def on_thread():
    return {"configurable": {"thread_id": str(uuid.uuid4())}}


def texts(values):
    """Messages come as dicts from the API, and as objects from a graph of this process."""
    return [m["content"] if isinstance(m, dict) else m.content for m in values["messages"]]


def refusal(call):
    try:
        call()
    except Exception as error:  # the type is what is looked at
        return {"type": type(error).__name__, "message": str(error)}
    return None


class State(TypedDict):
    messages: Annotated[list, add_messages]


def parent_of(remote):
    builder = StateGraph(State)
    builder.add_node("remote", remote)
    builder.add_edge(START, "remote")
    builder.add_edge("remote", END)
    return builder.compile(checkpointer=MemorySaver())


def main(url):
    remote = RemoteGraph("agent", url=url)
    config = on_thread()
    invoked = texts(remote.invoke(say("one"), config))
    streamed = {}
    for part in remote.stream(say('call get_weather {"city": "Bern"}'), config, stream_mode=MODES):
        mode, data = part[:2]
        streamed.setdefault(mode, []).append(data)

    asking = on_thread()
    asked = remote.invoke(say(MAIL), asking)
    state = remote.get_state(asking)
    resumed = texts(remote.invoke(APPROVE, asking))

    history = list(remote.get_state_history(config, limit=50))
    first = next(s for s in history if len(s.values.get("messages", [])) == 2 and not s.next)
    forked = remote.update_state(first.config, say("two"), as_node="__start__")
    after_fork = texts(remote.invoke(None, forked))
    at_first = texts(remote.get_state(first.config).values)

    parent, outer = parent_of(remote), on_thread()
    nested = texts(parent.invoke(say("nested"), outer))
    spaces = sorted({
        part.split(":")[0]
        for namespace, _, _ in parent.stream(say("more"), outer, stream_mode=["updates", "messages"], subgraphs=True)
        for part in namespace
    })
    questions = on_thread()
    nested_asked = [i.value for i in parent.invoke(say(MAIL), questions).get("__interrupt__", [])]

    drawing = remote.get_graph()
    print(json.dumps({
        "invoked": invoked,
        "modes": {mode: len(data) for mode, data in streamed.items()},
        "tokens": "".join(str(message["content"]) for message, _ in streamed["messages"]),
        "values": texts(streamed["values"][-1]),
        "asked": [i["value"] if isinstance(i, dict) else i.value for i in asked.get("__interrupt__", [])],
        "next": list(state.next),
        "interrupts": [i.value for i in state.interrupts],
        "resumed": resumed,
        "first": at_first,
        "after_fork": after_fork,
        "nested": nested,
        "spaces": spaces,
        "nested_asked": nested_asked,
        "nodes": sorted(drawing.nodes),
        "mermaid": drawing.draw_mermaid(),
        "xray": sorted(remote.get_graph(xray=True).nodes),
        "unknown": refusal(lambda: RemoteGraph("no_such_graph", url=url).invoke(say("one"))),
        "failed": refusal(lambda: remote.invoke(say("one"), {"recursion_limit": 1})),
    }))


main(sys.argv[1])
