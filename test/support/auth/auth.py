"""What auth.ts is, in Python: who has a token is its user, and owns what he makes. `Bearer alice` is alice."""

import asyncio
import re
import sys
import time
from typing import Any

from langgraph_sdk import Auth

auth = Auth()
# Users who find what their team shares, and read the threads that they own.
TEAM = ("carol", "dave")
# How the ids of threads begin whose runs stay as they are.
LOCKED = "00000000"
visits = 0


class UpstreamError(RuntimeError):
    status_code = 503


@auth.authenticate
async def authenticate(
    authorization: str | None, method: str, headers: dict[bytes, bytes], query_params: Any
) -> dict[str, Any] | tuple[list[str], Any]:
    global visits
    found = re.match(r"Bearer (.+)$", authorization or "")
    if not found:
        raise Auth.exceptions.HTTPException(401, "No token", headers={"www-authenticate": "Bearer"})
    name = found[1]
    assert headers[b"authorization"] == f"Bearer {name}".encode() and method.isupper()
    if name == "banned":
        raise Auth.exceptions.HTTPException(403, "Banned")
    if name == "busy":
        raise Auth.exceptions.HTTPException(503, "Busy", headers={"retry-after": "7"})
    if name == "quit":
        sys.exit("a secret of the module")
    if name == "upstream":
        raise UpstreamError("a secret of the module")
    if name == "crash":
        raise RuntimeError("a secret of the module")
    if name == "nobody":
        return None  # type: ignore[return-value]
    if name == "paired":
        # As Starlette's authentication has it: permissions, and the user.
        return query_params.getlist("may"), {"identity": name, "permissions": ["nothing"]}
    if name == "named":
        return [], name
    if name.startswith("thread"):
        await asyncio.to_thread(time.sleep, 3_600 if name == "thread-hang" else 0)
    while name == "hang":
        pass
    visits += 1
    permissions = ["read"] if name == "reader" else ["read", "write"]
    return {"identity": name, "visits": visits, "permissions": permissions, "team": "blue"}


@auth.on
async def own(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> bool | dict[str, Any]:
    if isinstance(ctx.user, Auth.types.StudioUser):
        return True
    value["metadata"] = {**(value.get("metadata") or {}), "owner": ctx.user.identity}
    return {"owner": ctx.user.identity}


@auth.on.assistants(actions=["read", "search"])
async def find(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> bool | dict[str, Any]:
    if isinstance(ctx.user, Auth.types.StudioUser):
        return True
    owner = {"owner": ctx.user.identity}
    alternatives = [owner, {"created_by": "system"}, {"team": "blue"}]
    return {"$or": alternatives} if ctx.user.identity in TEAM else owner


@auth.on.threads.create
async def create(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> bool | dict[str, Any]:
    if "write" not in ctx.permissions:
        return False
    counted = {"visits": ctx.user["visits"]} if ctx.user.identity == "counted" else {}
    owner = {"owner": ctx.user.identity, "readers": [ctx.user.identity, "auditor"]}
    value["metadata"] = {**(value.get("metadata") or {}), **counted, **owner}
    return {"owner": ctx.user.identity}


@auth.on.threads.search
async def search(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, Any] | None:
    if isinstance(ctx.user, Auth.types.StudioUser):
        return None
    value["metadata"]["owner"] = ctx.user.identity
    # For one user the search alone is narrowed, without a filter.
    return None if ctx.user.identity == "bob" else {"owner": ctx.user.identity}


@auth.on.threads.update
async def update(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> bool | dict[str, Any]:
    if isinstance(ctx.user, Auth.types.StudioUser):
        return True
    # For one user it reads the id as if every question had one.
    if ctx.user.identity == "alice" and str(value["thread_id"]).startswith(LOCKED):
        return False
    value["metadata"] = {**(value.get("metadata") or {}), "owner": ctx.user.identity}
    return {"owner": ctx.user.identity}


@auth.on.threads.read
async def read(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, Any]:
    identity = ctx.user.identity
    return {"owner": identity} if identity in TEAM else {"readers": {"$contains": identity}}


@auth.on.store
async def scope(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> None:
    value["namespace"] = (ctx.user.identity,) + (value.get("namespace") or ())


@auth.on.store.delete
async def keep(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, Any]:
    assert value["namespace"] != ("pinned",), "Pinned items stay"
    await scope(ctx, value)
    return {"locked": "no"}
