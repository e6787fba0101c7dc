"""Uses the MCP client of the 1.x generation, and LangChain's adapters on top of it; prints a report as JSON. Argument: the address of the API."""

import asyncio
import json
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamablehttp_client
from mcp.types import ElicitResult
from mcp_report import prompts_and_resources

URL = f"{sys.argv[1]}/mcp"


async def main():
    out, questions, messages = {}, [], []

    async def elicit(_context, params):
        questions.append(params.message)
        return ElicitResult(action="accept", content={"answer": "by all means"})

    async def on_progress(_done, _total, message):
        messages.append(message)

    async with (
        streamablehttp_client(URL) as (read, write, _),
        ClientSession(read, write, elicitation_callback=elicit) as session,
    ):
        await session.initialize()
        out["tools"] = [tool.name for tool in (await session.list_tools()).tools]
        called = await session.call_tool("three", {"step_ms": 20}, progress_callback=on_progress)
        out["called"] = called.structuredContent
        out["progress"] = messages
        out["answered"] = (await session.call_tool("ask", {"question": "Shall I?"})).structuredContent
        out["questions"] = questions
        failed = await session.call_tool("fail", {"message": "On fire"})
        out["failed"] = {"isError": failed.isError, "content": [{"text": failed.content[0].text}]}
        try:
            await session.call_tool("nobody", {})
        except McpError as error:
            out["unknown"] = error.error.code
        out.update(await prompts_and_resources(session))

    tools = await MultiServerMCPClient({"gantry": {"transport": "streamable_http", "url": URL}}).get_tools()
    three = next(tool for tool in tools if tool.name == "three")
    out["adapted"] = {"tools": len(tools), "result": await three.ainvoke({"step_ms": 1})}
    print(json.dumps(out))


asyncio.run(main())
