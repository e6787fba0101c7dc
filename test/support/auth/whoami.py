"""What whoami.ts is, in Python."""

from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict


class State(TypedDict, total=False):
    said: str
    user: dict[str, Any]


def whoami(state: State, config: RunnableConfig) -> State:
    """Returns what its config says of the user."""
    names = ("langgraph_auth_user", "langgraph_auth_user_id", "langgraph_auth_permissions", "user_id")
    configurable = config["configurable"]
    user = configurable.get("langgraph_auth_user")
    assert user is None or user.identity == user["identity"]
    return {"user": {name: configurable.get(name) for name in names}}


graph = StateGraph(State).add_node("whoami", whoami).add_edge(START, "whoami").add_edge("whoami", END).compile()
