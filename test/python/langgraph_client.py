"""Uses the public LangGraph client as a user would; prints what it got as JSON. Argument: the API's address."""

import asyncio
import json
import sys
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

from langgraph_sdk import get_client, get_sync_client

WEATHER = {"messages": [{"role": "human", "content": "weather in Oslo"}]}
STEPS = {"step_ms": 50}


async def stream(client, thread_id, assistant, **kwargs):
    return [
        {"event": part.event, "data": part.data, "id": getattr(part, "id", None)}
        async for part in client.runs.stream(thread_id, assistant, **kwargs)
    ]


async def refusal(awaitable):
    try:
        await awaitable
    except Exception as error:  # the type is what is looked at
        response = getattr(error, "response", None)
        return {"type": type(error).__name__, "status": getattr(response, "status_code", None)}
    return None


async def message_of(awaitable):
    try:
        await awaitable
    except Exception as error:  # what a user reads
        return str(error)
    return None


async def newer(client):
    """What servers learned last: times to live, pruning, idempotency, 405."""
    kept = await client.threads.create(ttl={"ttl": 60, "strategy": "keep_latest"})
    ttl = (await client.threads.get(kept["thread_id"], include=["ttl"]))["ttl"]
    for _ in range(2):
        await client.runs.wait(kept["thread_id"], "pipeline", input={"step_ms": 0})
    before = len(await client.threads.get_history(kept["thread_id"], limit=100))
    pruned = await client.threads.prune([kept["thread_id"]], strategy="keep_latest")
    after = len(await client.threads.get_history(kept["thread_id"], limit=100))
    once = {"Idempotency-Key": "python-once"}
    runs = [
        (await client.runs.create(kept["thread_id"], "pipeline", input={"step_ms": 0}, headers=once))["run_id"]
        for _ in range(2)
    ]
    reused = await refusal(
        client.runs.create(kept["thread_id"], "pipeline", input={"step_ms": 1}, headers=once)
    )
    not_allowed = await refusal(client.http.put("/threads", json={}))
    return {
        "ttl": ttl,
        "pruned": pruned,
        "history": [before, after],
        "runs": runs,
        "reused": reused,
        "not_allowed": not_allowed,
    }


async def protocol(client):
    """The event protocol: a run with its tokens, and a question that is answered."""
    async with client.threads.stream(assistant_id="agent") as thread:
        await thread.run.start(input=WEATHER)
        # Pulled along by the iteration: none is complete before it continues.
        messages = [message async for message in thread.messages]
        texts = [str(await message.text) for message in messages]
        output = await thread.output
    async with client.threads.stream(assistant_id="approval") as thread:
        await thread.run.start(input={"amount": 12})
        while not thread.interrupted:
            await asyncio.sleep(0.05)
        interrupted = thread.interrupted
        questions = len(thread.interrupts)
    outputs = []
    async with client.threads.stream(assistant_id="agent", transport="websocket") as thread:
        await thread.run.start(input=WEATHER)
        outputs.append(await thread.output)
    for transport in ["sse", "websocket"]:
        async with client.threads.stream(thread.thread_id, assistant_id="agent", transport=transport) as again:
            outputs.append(await again.output)
    return {
        "outputs": [[each["type"] for each in output["messages"]] for output in outputs],
        "texts": texts,
        "last": output["messages"][-1]["content"] if isinstance(output["messages"][-1], dict) else None,
        "interrupted": interrupted,
        "questions": questions,
    }


async def use(url):
    client = get_client(url=url)
    out = {}

    out["assistants"] = await client.assistants.search(limit=10)
    agent_id = next(each["assistant_id"] for each in out["assistants"] if each["graph_id"] == "agent")
    out["assistant"] = await client.assistants.get(agent_id)
    out["no_assistant"] = await refusal(client.assistants.get("7e4d2c3b-0000-4000-8000-000000000000"))
    out["no_graph"] = await message_of(client.runs.create(None, "no_such_graph", input={}))

    out["thread"] = thread = await client.threads.create(metadata={"by": "python"})
    thread_id = thread["thread_id"]
    out["updates"] = await stream(client, thread_id, "agent", input=WEATHER, stream_mode="updates")
    out["messages"] = await stream(client, thread_id, "agent", input=WEATHER, stream_mode="messages")
    out["tuples"] = await stream(client, thread_id, "agent", input=WEATHER, stream_mode="messages-tuple")
    out["events"] = await stream(client, thread_id, "agent", input=WEATHER, stream_mode="events")
    out["several"] = await stream(
        client, thread_id, "agent", input=WEATHER, stream_mode=["values", "updates", "messages-tuple"]
    )
    out["stateless"] = await stream(client, None, "agent", input=WEATHER, stream_mode="values")

    fresh = await client.threads.create()
    out["waited"] = await client.runs.wait(fresh["thread_id"], "agent", input=WEATHER)
    out["state"] = await client.threads.get_state(fresh["thread_id"])
    out["history"] = len(await client.threads.get_history(fresh["thread_id"]))
    out["found"] = [each["thread_id"] for each in await client.threads.search(metadata={"by": "python"})]

    approval = await client.threads.create()
    asked = await client.runs.wait(approval["thread_id"], "approval", input={"amount": 12})
    out["asked"] = asked
    out["waiting"] = (await client.threads.get(approval["thread_id"]))["status"]
    out["resumed"] = await client.runs.wait(approval["thread_id"], "approval", command={"resume": "approve"})

    background = await client.threads.create()
    run = await client.runs.create(background["thread_id"], "pipeline", input=STEPS, stream_mode="updates")
    out["joined"] = [
        {"event": part.event, "id": getattr(part, "id", None)}
        async for part in client.runs.join_stream(background["thread_id"], run["run_id"])
    ]
    out["background"] = (await client.runs.get(background["thread_id"], run["run_id"]))["status"]

    slow = await client.runs.create(background["thread_id"], "pipeline", input={"step_ms": 60_000})
    while (await client.runs.get(background["thread_id"], slow["run_id"]))["status"] != "running":
        await asyncio.sleep(0.05)
    await client.runs.cancel(background["thread_id"], slow["run_id"], wait=True)
    out["cancelled"] = (await client.runs.get(background["thread_id"], slow["run_id"]))["status"]

    out["newer"] = await newer(client)
    out["protocol"] = await protocol(client)

    zone = ZoneInfo("America/New_York")
    end = datetime(2099, 1, 1, tzinfo=timezone.utc)
    cron = await client.crons.create(
        "agent", schedule="0 9 * * *", input=WEATHER, timezone=zone, end_time=end, metadata={"by": "python"}
    )
    on_thread = await client.crons.create_for_thread(fresh["thread_id"], "agent", schedule="@daily", input=WEATHER)
    updated = await client.crons.update(cron["cron_id"], enabled=False, end_time=None)
    out["crons"] = {
        "created": cron,
        "on_thread": on_thread["thread_id"] == fresh["thread_id"],
        "updated": updated,
        "found": [each["cron_id"] for each in await client.crons.search(metadata={"by": "python"}, enabled=False)],
        "count": await client.crons.count(assistant_id=agent_id),
        "wrong": await refusal(client.crons.create("agent", schedule="0 9 * *")),
    }
    await client.crons.delete(cron["cron_id"])
    out["crons"]["left"] = await client.crons.count()

    # The client raises what `__error__` of a wait says.
    out["failed"] = await refusal(client.runs.wait(None, "pipeline", input={"tool_url": "http://example.com/"}))
    return out


def use_sync(url):
    client = get_sync_client(url=url)
    thread = client.threads.create()
    parts = [part.event for part in client.runs.stream(thread["thread_id"], "agent", input=WEATHER)]
    return {"sync": parts}


print(json.dumps({**asyncio.run(use(sys.argv[1])), **use_sync(sys.argv[1])}))
