"""Calls methods of the public Python clients as a test orders it, a line of JSON each; answers with what was sent.

usage: contract_client.py <api url>

The first line that it prints lists the methods of each client with their parameters. An order is
{"client", "method", "args", "events"}: `events` is how many events of a stream are enough. An answer is {"sent", "failure"}.
"""

import asyncio
import inspect
import json
import sys
from datetime import datetime

from langgraph_sdk import get_client, get_sync_client

url = sys.argv[1]
PARTS = ("assistants", "threads", "runs", "crons", "store")
STREAM_PARTS = ("run", "agent")
sent: list[dict] = []


def record(request, response) -> None:
    sent.append(
        {
            "method": request.method,
            "url": str(request.url),
            "body": json.loads(request.content) if request.content else None,
            "headers": {name: request.headers[name] for name in ("x-contract",) if name in request.headers},
            "status": response.status_code,
        }
    )


async def record_async(response) -> None:
    record(response.request, response)


def public(owner) -> dict:
    """The public methods of an object with their parameters."""
    return {
        name: list(inspect.signature(getattr(owner, name)).parameters)
        for name in dir(type(owner))
        if not name.startswith("_") and inspect.isfunction(inspect.getattr_static(owner, name))
    }


def signatures(client) -> dict:
    return {
        f"{part}.{name}": parameters
        for part in PARTS
        for name, parameters in public(getattr(client, part)).items()
    }


async def commands(client) -> dict:
    """The commands of a thread's stream, with their parameters."""
    thread = await entered(client.threads.stream(assistant_id="three"))
    try:
        return {f"{part}.{name}": each for part in STREAM_PARTS for name, each in public(getattr(thread, part)).items()}
    finally:
        await settled(thread.close())


async def entered(thread):
    return await thread.__aenter__() if hasattr(thread, "__aenter__") else thread.__enter__()


async def settled(result):
    """What a method of either client results in."""
    return await result if inspect.isawaitable(result) else result


async def converse(client, orders: dict) -> None:
    """Sends each command of a thread's stream once: a run that asks, its answer, and the graph's tree."""
    thread = await entered(client.threads.stream(**orders["stream"]))
    try:
        await settled(thread.run.start(**orders["run.start"]))
        while not thread.interrupted:
            await asyncio.sleep(0.02)
        [question] = thread.interrupts
        await settled(thread.run.respond(interrupt_id=question["interrupt_id"], **orders["run.respond"]))
        await settled(thread.output)
        await settled(thread.agent.get_tree(**orders["agent.get_tree"]))
    finally:
        await settled(thread.close())


def call(method, args: dict):
    parameters = inspect.signature(method).parameters
    args = dict(args)
    if "end_time" in args:
        args["end_time"] = datetime.fromisoformat(args["end_time"])
    if "on_run_created" in parameters:
        args["on_run_created"] = lambda _created: None
    places = [args.pop(name) for name, each in parameters.items() if each.kind == each.POSITIONAL_ONLY]
    return method(*places, **args)


async def finish(result, events) -> None:
    """Awaits an answer, or reads a stream as far as the test wants it."""
    result = await settled(result)
    if hasattr(result, "__aiter__"):
        count = 0
        async for _ in result:
            count += 1
            if events and count >= events:
                await result.aclose()
                return
    elif inspect.isgenerator(result):
        for count, _ in enumerate(result, 1):
            if events and count >= events:
                result.close()
                return


async def main() -> None:
    clients = {"async": get_client(url=url), "sync": get_sync_client(url=url)}
    clients["async"].http.client.event_hooks = {"response": [record_async]}
    clients["sync"].http.client.event_hooks = {
        "response": [lambda response: record(response.request, response)]
    }
    known = {name: signatures(client) for name, client in clients.items()}
    streams = {name: await commands(client) for name, client in clients.items()}
    print(json.dumps({"methods": known, "commands": streams}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        part, name = order["method"].split(".")
        method = getattr(getattr(clients[order["client"]], part), name)
        sent.clear()
        failure = None
        try:
            if order["method"] == "threads.stream":
                await asyncio.wait_for(converse(clients[order["client"]], order["args"]), 60)
            else:
                await finish(call(method, order["args"]), order.get("events"))
        except Exception as error:  # the test says what it expects
            failure = f"{type(error).__name__}: {error}"
        print(json.dumps({"sent": sent, "failure": failure}), flush=True)


asyncio.run(main())
