"""Reads prompts and resources with the newest MCP client; prints a report as JSON. Usage: mcp_prompts.py URL MODE"""

import asyncio
import json
import sys

from mcp import Client


async def main(url, mode):
    out = {}
    async with Client(f"{url}/mcp", mode=mode) as client:
        out["prompts"] = [prompt.name for prompt in (await client.list_prompts()).prompts]
        prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
        out["prompt"] = prompt.messages[0].content.text
        resources = (await client.list_resources()).resources
        note = next(each for each in resources if str(each.uri).startswith("gantry://store/notes/"))
        out["resource"] = json.loads((await client.read_resource(note.uri)).contents[0].text)["value"]
    print(json.dumps(out))


asyncio.run(main(*sys.argv[1:]))
