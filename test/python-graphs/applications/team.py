"""test/apps/teams/supervisor.ts in Python."""

from langchain_openai import ChatOpenAI
from langgraph.config import get_stream_writer
from langgraph.prebuilt import create_react_agent
from langgraph.types import interrupt
from langgraph_supervisor import create_supervisor

model = ChatOpenAI(model="gpt-4o")


def add(a: int, b: int) -> int:
    """Add two numbers."""
    get_stream_writer()({"adding": [a, b]})
    return a + b


def publish(text: str) -> str:
    """Publish a text."""
    return f"Published {text}" if interrupt({"publish": text}) == "yes" else "Discarded"


math_agent = create_react_agent(
    model=model,
    tools=[add],
    name="math_expert",
    prompt="You are a math expert. Always use one tool at a time.",
)

research_agent = create_react_agent(
    model=model,
    tools=[publish],
    name="research_expert",
    prompt="You are a world class researcher. Do not do any math.",
)

workflow = create_supervisor(
    [research_agent, math_agent],
    model=model,
    prompt="You are a team supervisor managing a research expert and a math expert.",
)

graph = workflow.compile()
