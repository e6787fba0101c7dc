"""Users by their tokens, each with their own threads."""

from typing import Any

from langgraph_sdk import Auth
from speakers import token_of

auth = Auth()


@auth.authenticate
async def authenticate(authorization: str | None) -> dict[str, Any]:
    token = token_of(authorization)
    if token is None:
        raise Auth.exceptions.HTTPException(status_code=401, detail="No token")
    return {"identity": token}


@auth.on
async def own(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> dict[str, str]:
    value.setdefault("metadata", {})["owner"] = ctx.user.identity
    return {"owner": ctx.user.identity}


@auth.on.assistants
async def everybody(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> bool:
    return True
