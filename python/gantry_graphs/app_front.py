"""The user's Starlette or FastAPI app as it is served: its middleware in front of the API, its routes for known callers."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

from starlette.applications import Starlette
from starlette.authentication import AuthCredentials
from starlette.routing import Match
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from .app_caller import ASK, Ask, caller_in, caller_of
from .app_table import routes_for_api
from .inner_api import InnerApi
from .sdk_client import credentials
from .user import User

# Key of a request's scope for whether the API has identified the caller.
_CALLER = "gantry.caller"


class ServedApp:
    """Reads what the API says of a request's caller, before any middleware of the user's."""

    def __init__(self, app: Any, where: str, inner_socket_path: str) -> None:
        """Raises TypeError when `app` is nothing that can be served; `where` names it."""
        if not isinstance(app, Starlette):
            raise TypeError(
                f"{where} is a value of the type {type(app).__name__}; it has to be an app of Starlette or FastAPI"
            )
        self.startup_failure: str | None = None
        self._app = app
        router = app.router
        api = InnerApi(inner_socket_path)
        router.default = api.pass_on
        # The stack is built around what the app has for its router: from here on that is asked by the front alone.
        app.router = _Front(router, api)  # type: ignore[assignment]
        try:
            app.middleware_stack = app.build_middleware_stack()
        finally:
            app.router = router

    def table(self) -> list[dict[str, str]]:
        """Patterns of the requests that the API passes to this process."""
        return routes_for_api(self._app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, self._noting_failure(send))
            return
        scope["headers"], scope[_CALLER] = caller_in(scope["headers"])
        credentials.set(caller_of(scope["headers"]))
        _know_user(scope)
        answered = False

        async def noting(message: Message) -> None:
            nonlocal answered
            await send(message)
            answered = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await self._app(scope, receive, noting)
        except (Exception, SystemExit, KeyboardInterrupt):
            # Starlette answers with 500 and throws on. The server would close the connection, on which the API may just have
            # sent another request.
            if not answered:
                raise
            traceback.print_exc()

    def _noting_failure(self, send: Send) -> Send:
        async def noting(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed":
                lines = str(message.get("message", "")).strip().splitlines()
                self.startup_failure = f"its lifespan failed: {lines[-1]}" if lines else "its lifespan failed"
            await send(message)

        return noting


class _Front:
    """Stands in the place of the app's router, after all of its middleware.

    A request whose caller the API hasn't asked for never reaches the router: where the router's own routes would take it,
    the API is asked first, about the path as the router reads it. Everything else goes to the API, which asks by itself.
    """

    def __init__(self, router: Any, api: InnerApi) -> None:
        self._router = router
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # The API asks for the caller of each handshake before it hands it on, and has no WebSockets for the app.
            is_served = not isinstance(scope.get(_CALLER, ASK), Ask) and _best_match(self._router, scope) is Match.FULL
            await (self._router if is_served else WebSocketClose())(scope, receive, send)
            return
        if scope["type"] != "http":
            await self._router(scope, receive, send)
            return
        match = _best_match(self._router, scope)
        # A path of the app under a method that only the API may have.
        if match is Match.PARTIAL:
            await self._api.pass_on(scope, receive, send)
        elif not isinstance(scope.get(_CALLER, ASK), Ask):
            await self._router(scope, receive, send)
        elif match is Match.NONE:
            await self._api.pass_on(scope, receive, send)
        else:
            answer = await self._api.ask_for_caller(scope)
            if answer.status_code >= 300:
                await self._api.send_on(answer, send)
                return
            await answer.aclose()
            _, scope[_CALLER] = caller_in(answer.headers.raw)
            _know_user(scope)
            await self._router(scope, receive, send)


def _know_user(scope: Scope) -> None:
    """Gives routes and middleware `request.user`, as on the hosted platform, where a custom auth knows one."""
    caller = scope[_CALLER]
    fields = caller.user if isinstance(caller, Ask) else caller.get("user")
    if fields is not None:
        scope["user"] = User(fields)
        scope["auth"] = AuthCredentials(fields["permissions"])


def _best_match(router: Any, scope: Scope) -> Match:
    """How far the routes of a router match, including the route to which it would redirect."""
    for each in _readings(router, scope):
        # Routes modify the scope that they match.
        matches = {route.matches(dict(each))[0] for route in router.routes}
        for match in (Match.FULL, Match.PARTIAL):
            if match in matches:
                return match
    return Match.NONE


def _readings(router: Any, scope: Scope) -> Iterator[Scope]:
    yield scope
    path = scope["path"]
    if router.redirect_slashes and path != "/":
        yield {**scope, "path": path.rstrip("/") if path.endswith("/") else path + "/"}
