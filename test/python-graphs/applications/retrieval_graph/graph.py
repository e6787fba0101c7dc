"""A graph that answers from documents, in the layout of the template `retrieval-agent`: a query, a search, an answer."""

from datetime import datetime, timezone
from typing import cast

from langchain.chat_models import init_chat_model
from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableConfig
from langgraph.graph import StateGraph
from pydantic import BaseModel

from retrieval_graph import retrieval
from retrieval_graph.configuration import Configuration
from retrieval_graph.state import InputState, State


class SearchQuery(BaseModel):
    """Search the indexed documents for a query."""

    query: str


def load_chat_model(name: str) -> BaseChatModel:
    provider, model = name.split("/", maxsplit=1)
    return init_chat_model(model, model_provider=provider)


def format_docs(docs: list[Document]) -> str:
    return "\n".join(["<documents>", *(f"<document>{doc.page_content}</document>" for doc in docs), "</documents>"])


async def generate_query(state: State, *, config: RunnableConfig) -> dict[str, list[str]]:
    if len(state.messages) == 1:
        return {"queries": [str(state.messages[-1].text)]}
    configuration = Configuration.from_runnable_config(config)
    prompt = ChatPromptTemplate.from_messages([("system", configuration.query_system_prompt), ("placeholder", "{messages}")])
    given = {
        "messages": state.messages,
        "queries": "\n- ".join(state.queries),
        "system_time": datetime.now(tz=timezone.utc).isoformat(),
    }
    model = load_chat_model(configuration.query_model).with_structured_output(SearchQuery)
    generated = cast(SearchQuery, await model.ainvoke(await prompt.ainvoke(given, config), config))
    return {"queries": [generated.query]}


async def retrieve(state: State, *, config: RunnableConfig) -> dict[str, list[Document]]:
    with retrieval.make_retriever(config) as retriever:
        return {"retrieved_docs": await retriever.ainvoke(state.queries[-1], config)}


async def respond(state: State, *, config: RunnableConfig) -> dict[str, list[BaseMessage]]:
    configuration = Configuration.from_runnable_config(config)
    prompt = ChatPromptTemplate.from_messages(
        [("system", configuration.response_system_prompt), ("placeholder", "{messages}")]
    )
    given = {
        "messages": state.messages,
        "retrieved_docs": format_docs(state.retrieved_docs),
        "system_time": datetime.now(tz=timezone.utc).isoformat(),
    }
    model = load_chat_model(configuration.response_model)
    return {"messages": [await model.ainvoke(await prompt.ainvoke(given, config), config)]}


builder = StateGraph(State, input_schema=InputState, config_schema=Configuration)
builder.add_node(generate_query)
builder.add_node(retrieve)
builder.add_node(respond)
builder.add_edge("__start__", "generate_query")
builder.add_edge("generate_query", "retrieve")
builder.add_edge("retrieve", "respond")
graph = builder.compile()
graph.name = "RetrievalGraph"
