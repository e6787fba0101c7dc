"""Uses the store by the public LangGraph client as a user would; prints what it got as JSON. Argument: the API's address."""

import asyncio
import json
import sys

from langgraph_sdk import get_client, get_sync_client

NAMESPACE = ["python", "user-1"]


async def use(url):
    store = get_client(url=url).store
    out = {"missing": await store.get_item(NAMESPACE, key="likes")}
    await store.put_item(NAMESPACE, key="likes", value={"text": "tea", "rank": 1}, ttl=5)
    await store.put_item(["python", "user-2"], key="likes", value={"text": "rain", "rank": 2}, index=False)
    out["item"] = await store.get_item(NAMESPACE, key="likes", refresh_ttl=True)
    out["found"] = (await store.search_items(NAMESPACE, limit=5, offset=0, refresh_ttl=False))["items"]
    by_filter = await store.search_items(["python"], filter={"rank": {"$lt": 2}})
    out["by_filter"] = [each["key"] for each in by_filter["items"]]
    by_meaning = await store.search_items(["python"], query="tea", limit=1)
    out["by_meaning"] = [each["key"] for each in by_meaning["items"]]
    out["namespaces"] = await store.list_namespaces(prefix=["python"], suffix=["user-1"], max_depth=2)
    await store.delete_item(NAMESPACE, key="likes")
    out["deleted"] = await store.get_item(NAMESPACE, key="likes")
    try:
        await store.put_item(["langgraph"], key="k", value={})
    except Exception as error:
        out["reserved"] = error.response.status_code
    return out


def use_sync(url):
    store = get_sync_client(url=url).store
    store.put_item(["python", "sync"], key="k", value={"text": "sync"})
    return store.get_item(["python", "sync"], key="k")["value"]


result = asyncio.run(use(sys.argv[1]))
result["sync"] = use_sync(sys.argv[1])
json.dump(result, sys.stdout)
