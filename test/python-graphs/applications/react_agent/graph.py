"""A graph in the layout of the template `react-agent`: a package of its own, a state of dataclasses, a context, a loop of two nodes."""

from typing import Literal, cast

from langchain.chat_models import init_chat_model
from langchain_core.messages import AIMessage
from langgraph.graph import StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.runtime import Runtime

from react_agent.context import Context
from react_agent.state import InputState, State


async def search(query: str) -> str:
    """Search for general web results."""
    return f"Found {query}"


TOOLS = [search]


async def call_model(state: State, runtime: Runtime[Context]) -> dict[str, list[AIMessage]]:
    provider, name = runtime.context.model.split("/", maxsplit=1)
    model = init_chat_model(name, model_provider=provider).bind_tools(TOOLS)
    system = {"role": "system", "content": runtime.context.system_prompt}
    response = cast(AIMessage, await model.ainvoke([system, *state.messages]))
    if state.is_last_step and response.tool_calls:
        return {"messages": [AIMessage(id=response.id, content="Sorry, there are no steps left.")]}
    return {"messages": [response]}


def route_model_output(state: State) -> Literal["__end__", "tools"]:
    last = state.messages[-1]
    return "tools" if isinstance(last, AIMessage) and last.tool_calls else "__end__"


builder = StateGraph(State, input_schema=InputState, context_schema=Context)
builder.add_node(call_model)
builder.add_node("tools", ToolNode(TOOLS))
builder.add_edge("__start__", "call_model")
builder.add_conditional_edges("call_model", route_model_output)
builder.add_edge("tools", "call_model")
graph = builder.compile(name="ReAct Agent")
