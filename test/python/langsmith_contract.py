"""Calls methods of LangSmith's Python clients as a test orders it, a line of JSON each; answers with what was sent.

usage: langsmith_contract.py <api url>

The first line that it prints lists the methods of each client with their parameters; those of their resources are listed once, as
`runs.query_v2`. An order is {"client", "method", "args"}. An answer is {"sent", "failure"}.
"""

import asyncio
import inspect
import json
import sys
import tempfile
import warnings
from datetime import datetime

import requests
from langsmith import AsyncClient, Client
from langsmith._httpx import httpx

warnings.simplefilter("ignore")
url = sys.argv[1]
# What a method of the clients that OpenAPI generated takes about the connection.
CONNECTION = {"extra_headers", "extra_query", "extra_body", "timeout"}
ENOUGH = 3
sent: list[dict] = []


def note(method, target, content, status) -> None:
    try:
        body = json.loads(content) if content else None
    except (TypeError, ValueError):
        body = None  # multipart
    sent.append({"method": method, "url": str(target), "body": body, "status": status})


def content_of(request):
    try:
        return request.content
    except httpx.RequestNotRead:
        return None


def record() -> None:
    """Notes what either library that the clients use sends."""
    send, send_plain, send_async = requests.Session.send, httpx.Client.send, httpx.AsyncClient.send

    def noted(self, request, **options):
        response = send(self, request, **options)
        note(request.method, request.url, request.body, response.status_code)
        return response

    def noted_plain(self, request, **options):
        response = send_plain(self, request, **options)
        note(request.method, request.url, content_of(request), response.status_code)
        return response

    async def noted_async(self, request, **options):
        response = await send_async(self, request, **options)
        note(request.method, request.url, content_of(request), response.status_code)
        return response

    requests.Session.send = noted
    httpx.Client.send = noted_plain
    httpx.AsyncClient.send = noted_async


def is_resource(member) -> bool:
    return type(member).__module__.startswith("langsmith.resources")


def own_methods(client) -> dict:
    names = [name for name in dir(type(client)) if not name.startswith("_")]
    functions = {name: inspect.getattr_static(type(client), name) for name in names}
    return {name: parameters(each) for name, each in functions.items() if inspect.isfunction(each)}


def parameters(method) -> list:
    return [name for name in inspect.signature(method).parameters if name != "self" and name not in CONNECTION]


def resource_methods(owner, path="") -> dict:
    found = {}
    for name in dir(type(owner)):
        if name.startswith("_") or name.startswith("with_"):
            continue
        member = getattr(owner, name)
        if is_resource(member):
            found |= resource_methods(member, f"{path}{name}.")
        elif path and inspect.ismethod(member):
            found[path + name] = parameters(member)
    return found


def call(method, args: dict):
    known = inspect.signature(method).parameters
    args = dict(args)
    for name, value in args.items():
        annotation = str(known[name].annotation) if name in known else ""
        if isinstance(value, str) and "datetime" in annotation and "str" not in annotation:
            args[name] = datetime.fromisoformat(value)
    args.update(args.pop("kwargs", {}))
    if "csv_file" in args:
        with tempfile.NamedTemporaryFile(suffix=".csv") as file:
            return method(**{**args, "csv_file": file.name})
    places = [args.pop(name) for name, each in known.items() if each.kind == each.POSITIONAL_ONLY and name in args]
    return method(*places, **args)


async def finish(result) -> None:
    """Awaits an answer, or reads a few items of a list."""
    if inspect.isawaitable(result) and not hasattr(result, "__aiter__"):
        result = await result
    if hasattr(result, "__aiter__"):
        count = 0
        async for _ in result:
            count += 1
            if count >= ENOUGH:
                break
    elif inspect.isgenerator(result):
        for count, _ in enumerate(result, 1):
            if count >= ENOUGH:
                break


async def main() -> None:
    record()
    clients = {
        "async": AsyncClient(api_url=url, api_key="x"),
        "sync": Client(api_url=url, api_key="x", auto_batch_tracing=False),
    }
    known = {name: own_methods(client) for name, client in clients.items()}
    known["resources"] = resource_methods(clients["sync"])
    print(json.dumps(known), flush=True)
    clients["resources"] = clients["sync"]
    while line := await asyncio.to_thread(sys.stdin.readline):
        order = json.loads(line)
        owner = clients[order["client"]]
        *path, name = order["method"].split(".")
        for part in path:
            owner = getattr(owner, part)
        sent.clear()
        failure = None
        try:
            await finish(call(getattr(owner, name), order["args"]))
        except Exception as error:  # the test says what it expects
            failure = f"{type(error).__name__}: {error}"
        print(json.dumps({"sent": sent, "failure": failure}), flush=True)


asyncio.run(main())
