"""The routes of hono-app.ts in Python, and what only apps of FastAPI have."""

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import RedirectResponse, Response, StreamingResponse
from langgraph_sdk import get_client
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import JSONResponse
from starlette.routing import Host, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

aborted = 0
# Codes with which the sockets of clients were closed.
closed: list[int] = []


def note(word: str) -> None:
    if file := os.environ.get("LIFESPAN_FILE"):
        with Path(file).open("a") as notes:
            notes.write(f"{word}\n")


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, str]]:
    note("started")
    app.include_router(late)
    yield {"resource": "open"}
    note("stopped")


app = FastAPI(lifespan=lifespan)
late = APIRouter(prefix="/late")


async def own_header(request: Request, call_next):
    response = await call_next(request)
    response.headers["x-own-middleware"] = "yes"
    if "user" in request.scope:
        response.headers["x-user"] = request.user.identity
    return response


app.add_middleware(BaseHTTPMiddleware, dispatch=own_header)


@app.get("/hello/{name}")
async def hello(name: str, request: Request) -> dict[str, str]:
    return {"hello": name, "url": str(request.url)}


@app.get("/headers")
async def headers(request: Request) -> dict[str, str]:
    return dict(request.headers)


@app.post("/echo")
async def echo(request: Request) -> Response:
    return Response(await request.body(), headers={"x-type": request.headers.get("content-type", "")})


@app.get("/stream")
async def stream() -> StreamingResponse:
    async def ticks() -> AsyncIterator[str]:
        for index in range(3):
            yield f"event: tick\ndata: {index}\n\n"
            await asyncio.sleep(0.15)

    return StreamingResponse(ticks(), media_type="text/event-stream")


@app.get("/endless")
async def endless() -> StreamingResponse:
    async def body() -> AsyncIterator[str]:
        global aborted
        try:
            yield "begun\n"
            await asyncio.Event().wait()
        finally:
            aborted += 1

    return StreamingResponse(body())


@app.get("/aborted")
async def count_aborted() -> dict[str, int]:
    return {"aborted": aborted}


@app.get("/redirect")
async def redirect() -> RedirectResponse:
    return RedirectResponse("/hello/you", status_code=302)


@app.get("/broken")
async def broken() -> None:
    raise RuntimeError("The route is broken")


@app.get("/stray")
async def stray() -> str:
    def throw() -> None:
        raise RuntimeError("Outside of a request")

    asyncio.get_running_loop().call_soon(throw)
    return "threw"


@app.get("/quit")
async def leave() -> None:
    sys.exit("The route gives up")


@app.get("/die")
async def die() -> str:
    asyncio.get_running_loop().call_later(0.02, os._exit, 1)
    return "dying"


@app.get("/block")
async def block() -> str:
    time.sleep(1.5)
    return "blocked"


# Takes two of Gantry's places: one that may be taken, and one that may not.
@app.get("/info")
@app.get("/ok")
async def mine() -> dict[str, bool]:
    return {"mine": True}


@app.get("/caller")
async def caller() -> dict[str, str]:
    thread = await get_client().threads.create(metadata={"made_by": "a route"})
    return {"thread_id": thread["thread_id"]}


@app.get("/state")
async def state(request: Request) -> dict[str, str]:
    return {"resource": request.state.resource}


@app.get("/whoami")
async def whoami(request: Request) -> dict[str, object]:
    return {"user": request.user.identity, "permissions": request.auth.scopes}


@app.get("/files/{path:path}")
async def files(path: str) -> dict[str, str]:
    return {"path": path}


@app.get("/numbers/{number:int}")
async def numbers(number: int) -> dict[str, int]:
    return {"number": number}


inner = APIRouter(prefix="/inner")
outer = APIRouter()


@inner.get("/{name}")
async def in_router(name: str) -> dict[str, str]:
    return {"inner": name}


@late.get("/{name}")
async def included_late(name: str) -> dict[str, str]:
    return {"late": name}


outer.include_router(inner)
app.include_router(outer, prefix="/outer")


async def mounted(request) -> JSONResponse:
    return JSONResponse({"mounted": request.path_params["name"]})


async def socket(websocket: WebSocket) -> None:
    """Says who asks and how, returns messages, and does what some of them say."""
    if "refuse" in websocket.query_params:
        await websocket.close()
        return
    offered = websocket.scope["subprotocols"]
    cookies = [(b"set-cookie", b"a=1; HttpOnly"), (b"set-cookie", b"b=2"), (b"x-seen", b"yes"), (b"server", b"mine")]
    await websocket.accept(subprotocol=offered[-1] if offered else None, headers=cookies)
    names = [name for name in websocket.headers if name.startswith("x-")]
    await websocket.send_json({"names": names, "query": str(websocket.url.query)})
    while (message := await websocket.receive())["type"] == "websocket.receive":
        text = message.get("text")
        if text == "close":
            await websocket.close(4321, "as asked")
            return
        if text == "die":
            os._exit(1)
        if text is None:
            await websocket.send_bytes(message["bytes"])
        else:
            await websocket.send_text(text)
    closed.append(message["code"])


async def closes(_: Request) -> JSONResponse:
    return JSONResponse(closed)


class Flood:
    """A socket that says much at once, and before that listens to nothing until it is asked to."""

    count = 300
    heard = 0
    said = 0
    listens = asyncio.Event()

    async def serve(self, websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text("open")
        await self.listens.wait()
        while self.heard < self.count:
            await websocket.receive_bytes()
            self.heard += 1
        while self.said < self.count:
            await websocket.send_bytes(bytes([self.said % 256]) * 100_000)
            self.said += 1

    async def listen(self, _: Request) -> JSONResponse:
        self.listens.set()
        return JSONResponse({})

    async def counts(self, _: Request) -> JSONResponse:
        return JSONResponse({"heard": self.heard, "said": self.said})


flood = Flood()


app.mount("/mounted", Starlette(routes=[Route("/{name}", mounted), WebSocketRoute("/socket/{name}", socket)]))
app.router.routes.append(WebSocketRoute("/socket", socket))
app.router.routes.append(WebSocketRoute("/numbers/{number:int}", socket))
app.router.routes.append(Route("/closes", closes))
app.router.routes.append(WebSocketRoute("/flood", flood.serve))
app.router.routes.append(Route("/flood", flood.counts))
app.router.routes.append(Route("/flood/listen", flood.listen))

# No middleware: requests that are none of its routes' don't pass through it.
plain = Starlette(routes=[Route("/hello/{name}", mounted), Route("/files/{path:path}", mounted)])


async def opaque(scope: Scope, receive: Receive, send: Send) -> None:
    """An app whose routes Starlette doesn't know."""
    if scope["type"] == "websocket":
        await socket(WebSocket(scope, receive, send))
    else:
        await JSONResponse({"path": scope["path"]})(scope, receive, send)


at_root = Starlette(routes=[Mount("/", app=opaque)])
# Files, which take no handshakes, and routes of one host.
files_at_root = Starlette(
    routes=[
        Host("api.example", app=Starlette(routes=[WebSocketRoute("/hosted", socket)])),
        Mount("/", app=StaticFiles(directory=Path(__file__).parent)),
    ]
)

not_an_app = {"routes": []}


@asynccontextmanager
async def failing(_: Starlette) -> AsyncIterator[None]:
    raise RuntimeError("the database is away")
    yield


fails_at_start = Starlette(lifespan=failing)
