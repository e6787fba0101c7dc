"""Routes that know their caller, beside a custom auth."""

from fastapi import FastAPI, Request, WebSocket
from langgraph_sdk import get_client

app = FastAPI()


@app.get("/whoami/{path:path}")
async def whoami(path: str, request: Request) -> dict[str, object]:
    return {"path": path, "user": request.user.identity, "permissions": request.auth.scopes}


@app.websocket("/chat/{room:path}")
async def chat(websocket: WebSocket, room: str) -> None:
    """Says who has come, and makes a thread for everything that he says."""
    await websocket.accept()
    user = websocket.user.identity
    await websocket.send_json({"room": room, "user": user, "permissions": websocket.auth.scopes})
    async for said in websocket.iter_text():
        thread = await get_client().threads.create(metadata={"said": said})
        await websocket.send_json(thread["metadata"])
