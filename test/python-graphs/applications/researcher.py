"""test/apps/deep-agents/researcher.ts in Python."""

from deepagents import create_deep_agent
from langchain.tools import tool


@tool
def look_up(topic: str) -> str:
    """Looks a topic up."""
    return f"{topic}: 42"


@tool
def publish(title: str) -> str:
    """Publishes a report."""
    return f"Published {title}"


graph = create_deep_agent(
    model="openai:gpt-4.1-mini",
    tools=[look_up, publish],
    system_prompt="You research things.",
    subagents=[
        {
            "name": "reader",
            "description": "Reads sources",
            "system_prompt": "You read sources.",
            "tools": [look_up],
        }
    ],
    interrupt_on={"publish": True},
)
