"""Uses the store by the public LangGraph client as a user would; prints what it got as JSON. Argument: the API's address."""

import asyncio
import json
import sys

from langgraph_sdk import get_client, get_sync_client

NAMESPACE = ["python", "user-1"]


async def refusal(store, namespace):
    """The status, or the name of the client's own error."""
    try:
        await store.put_item(namespace, key="k", value={})
    except Exception as error:
        response = getattr(error, "response", None)
        return response.status_code if response is not None else type(error).__name__


async def expire(store):
    """Of two items with three seconds to live, whether the one that is read and the one that isn't outlive them."""
    for key in ("read", "left"):
        await store.put_item(["ttl"], key=key, value={}, ttl=0.05, index=False)
    left = {}
    while left is not None:
        await asyncio.sleep(0.2)
        await store.get_item(["ttl"], key="read", refresh_ttl=True)
        left = await store.get_item(["ttl"], key="left", refresh_ttl=False)
    return [await store.get_item(["ttl"], key="read", refresh_ttl=False) is not None, left is not None]


async def use(url):
    store = get_client(url=url).store
    out = {"missing": await store.get_item(NAMESPACE, key="likes")}
    await store.put_item(NAMESPACE, key="likes", value={"text": "tea", "rank": 1}, ttl=5)
    await store.put_item(["python", "user-2"], key="other", value={"text": "rain", "rank": 2}, index=False)
    out["item"] = await store.get_item(NAMESPACE, key="likes", refresh_ttl=True)
    out["found"] = (await store.search_items(NAMESPACE, limit=5, offset=0, refresh_ttl=False))["items"]
    by_filter = await store.search_items(["python"], filter={"rank": {"$lt": 2}})
    out["by_filter"] = [each["key"] for each in by_filter["items"]]
    out["by_operator"] = {}
    for operator in ("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"):
        answer = await store.search_items(["python"], filter={"rank": {operator: 1}})
        out["by_operator"][operator] = [each["key"] for each in answer["items"]]
    by_meaning = await store.search_items(["python"], query="tea", limit=1)
    out["by_meaning"] = [each["key"] for each in by_meaning["items"]]
    out["namespaces"] = await store.list_namespaces(prefix=["python"], suffix=["user-1"], max_depth=2)
    out["cut"] = await store.list_namespaces(prefix=["python"], max_depth=1)
    await store.put_item(["large"], key="k", value={"text": "x" * 1024 * 1024}, index=False)
    out["large"] = len((await store.get_item(["large"], key="k"))["value"]["text"])
    out["expired"] = await expire(store)
    await store.delete_item(NAMESPACE, key="likes")
    out["deleted"] = await store.get_item(NAMESPACE, key="likes")
    out["refused"] = {
        "reserved": await refusal(store, ["langgraph"]),
        "none": await refusal(store, []),
        "empty": await refusal(store, ["python", ""]),
        "dotted": await refusal(store, ["python", "a.b"]),
    }
    return out


def use_sync(url):
    store = get_sync_client(url=url).store
    store.put_item(["python", "sync"], key="k", value={"text": "sync"})
    return store.get_item(["python", "sync"], key="k")["value"]


result = asyncio.run(use(sys.argv[1]))
result["sync"] = use_sync(sys.argv[1])
json.dump(result, sys.stdout)
