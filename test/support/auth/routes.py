"""Routes that know their caller, beside a custom auth."""

from fastapi import FastAPI, Request

app = FastAPI()


@app.get("/whoami/{path:path}")
async def whoami(path: str, request: Request) -> dict[str, object]:
    return {"path": path, "user": request.user.identity, "permissions": request.auth.scopes}
