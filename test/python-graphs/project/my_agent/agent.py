"""An agent of `create_agent`, with a model that answers by rules."""

from langchain.agents import create_agent

from my_agent.model import RuleModel


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}"


graph = create_agent(RuleModel(), tools=[get_weather])
