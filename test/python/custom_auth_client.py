"""Two users of a deployment with a custom auth, by the public LangGraph client; prints what each may do as JSON. Argument: the API's address."""

import asyncio
import json
import sys

from langgraph_sdk import get_client, get_sync_client


async def status_of(awaitable):
    try:
        await awaitable
        return 200
    except Exception as error:
        return error.response.status_code


async def use(url):
    as_user = lambda name: get_client(url=url, headers={"authorization": f"Bearer {name}"})
    alice, bob = as_user("alice"), as_user("bob")
    out = {"anonymous": await status_of(get_client(url=url).threads.search())}

    thread = await alice.threads.create(metadata={"topic": "python"})
    thread_id = thread["thread_id"]
    out["owner"] = thread["metadata"]["owner"]
    result = await alice.runs.wait(thread_id, "whoami", input={"said": "hi"})
    out["user"] = result["user"]["langgraph_auth_user_id"]
    out["streamed"] = [part.event async for part in alice.runs.stream(thread_id, "whoami", input={"said": "hi"})]
    out["hers"] = [each["thread_id"] == thread_id for each in await alice.threads.search(metadata={"topic": "python"})]
    out["his"] = await bob.threads.search(metadata={"topic": "python"})
    out["refused"] = {
        "get": await status_of(bob.threads.get(thread_id)),
        "state": await status_of(bob.threads.get_state(thread_id)),
        "update": await status_of(bob.threads.update(thread_id, metadata={})),
        "run": await status_of(bob.runs.create(thread_id, "whoami", input={})),
        "delete": await status_of(bob.threads.delete(thread_id)),
    }

    cron = await alice.crons.create("whoami", schedule="0 0 1 1 *", input={"said": "tick"}, metadata={"topic": "python"})
    out["cron"] = {"user": cron["user_id"], "metadata": cron["metadata"]}
    out["crons"] = {
        "hers": [each["cron_id"] == cron["cron_id"] for each in await alice.crons.search()],
        "his": await bob.crons.search(),
        "count": await bob.crons.count(),
        "update": await status_of(bob.crons.update(cron["cron_id"], schedule="@daily")),
        "delete": await status_of(bob.crons.delete(cron["cron_id"])),
    }
    await alice.crons.delete(cron["cron_id"])

    await alice.store.put_item(["py"], key="likes", value={"text": "tea"})
    out["store"] = [await each.store.get_item(["py"], key="likes") is not None for each in (alice, bob)]
    sync = get_sync_client(url=url, headers={"authorization": "Bearer alice"})
    out["sync"] = sync.threads.get(thread_id)["thread_id"] == thread_id
    return out


print(json.dumps(asyncio.run(use(sys.argv[1]))))
