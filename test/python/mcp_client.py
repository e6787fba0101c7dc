"""Drives a Gantry with the public Python client of MCP; prints a report as JSON. Usage: mcp_client.py URL MODE"""

import asyncio
import json
import sys
from typing import Any

import httpx
from mcp import Client, MCPError
from mcp_types import ElicitResult

URL, MODE = sys.argv[1:]


async def elicit(_context: Any, params: Any) -> ElicitResult:
    asked.append(params.message)
    return ElicitResult(action="accept", content={"answer": "by all means"})


asked: list[str] = []
progress: list[dict[str, Any]] = []


async def on_progress(done: float, total: float | None, message: str | None) -> None:
    progress.append({"progress": done, "total": total, "message": message})


async def raw(body: str, revision: str) -> httpx.Response:
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": revision,
    }
    async with httpx.AsyncClient(timeout=30) as http:
        return await http.post(URL, content=body, headers=headers)


async def main() -> None:
    report: dict[str, Any] = {}
    newest = "2025-11-25" if MODE == "legacy" else MODE
    malformed = [await raw(body, newest) for body in ('{"jsonrpc"', '{"hello": "there"}', "7", "[]")]
    report["malformed"] = [[each.status_code, each.json()["error"]["code"]] for each in malformed]
    calls = [{"jsonrpc": "2.0", "id": each, "method": "tools/list"} for each in (1, 2)]
    batch = await raw(json.dumps(calls), "2025-03-26" if MODE == "legacy" else MODE)
    report["batch"] = {"status": batch.status_code, "lists": batch.text.count('"tools"')}
    async with Client(URL, mode=MODE, elicitation_callback=elicit) as client:
        tools = (await client.list_tools()).tools
        report["tools"] = sorted(tool.name for tool in tools)
        called = await client.call_tool("sleep", {"note": "it"})
        report["called"] = {
            "structured": called.structured_content,
            "text": json.loads(called.content[0].text),
            "is_error": called.is_error,
        }
        await client.call_tool("three", {"step_ms": 20}, progress_callback=on_progress)
        report["progress"] = progress
        answered = await client.call_tool("ask", {"question": "Shall I?"})
        report["asked"] = asked
        report["answered"] = answered.structured_content
        failed = await client.call_tool("fail", {"message": "The printer is on fire"})
        report["failed"] = {"is_error": failed.is_error, "text": failed.content[0].text}
        try:
            await client.call_tool("nobody", {})
        except MCPError as error:
            report["unknown"] = error.error.code
        call = asyncio.create_task(client.call_tool("sleep", {"sleep_ms": 60_000, "note": "cancelled"}))
        await asyncio.sleep(2)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    print(json.dumps(report))


asyncio.run(main())
