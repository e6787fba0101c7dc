"""An agent as the pages of LangChain 1.x show it: a model by its name, tools, and a person who is asked before mail is sent."""

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import tool


@tool
def get_weather(city: str) -> str:
    """Get the weather of a city."""
    return f"Sunny in {city}"


@tool
def send_mail(to: str, text: str) -> str:
    """Send a mail."""
    return f"Sent to {to}"


graph = create_agent(
    model="openai:gpt-4.1-mini",
    tools=[get_weather, send_mail],
    middleware=[HumanInTheLoopMiddleware(interrupt_on={"send_mail": True})],
)
