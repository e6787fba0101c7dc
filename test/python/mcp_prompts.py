"""Reads prompts and resources with the newest MCP client; prints a report as JSON. Usage: mcp_prompts.py URL MODE"""

import asyncio
import json
import sys

from mcp import Client
from mcp_report import prompts_and_resources


async def main(url, mode):
    async with Client(f"{url}/mcp", mode=mode) as client:
        out = await prompts_and_resources(client)
    print(json.dumps(out))


asyncio.run(main(*sys.argv[1:]))
