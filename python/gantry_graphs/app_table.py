"""The requests that an app serves, as patterns of the API's router (src/custom-app/custom-routes.ts)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.routing import BaseRoute, Host, Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles

# Characters with a special meaning in a pattern of the API's router.
_SPECIAL = frozenset(":*?{}")


def routes_for_api(app: Starlette) -> list[dict[str, str]]:
    """Patterns that cover at least the app's routes; requests that match no route of the app are passed to the API."""
    table = [{"method": method, "path": path, "part": "route"} for method, path in _patterns(app.router)]
    table += [{"method": "GET", "path": path, "part": "websocket"} for path in _websocket_patterns(app.router.routes)]
    if app.user_middleware:
        table.append({"method": "ALL", "path": "*", "part": "middleware"})
    return table


def _patterns(router: Any) -> Iterator[tuple[str, str]]:
    for route, path in _flat(router.routes):
        if isinstance(route, WebSocketRoute):
            continue
        if isinstance(route, Mount) and path is not None:
            yield "ALL", _below(path)
        elif isinstance(path, str) and hasattr(route, "methods"):
            pattern = _pattern(path)
            for method in route.methods or ("ALL",):
                yield method, pattern
                if router.redirect_slashes and not pattern.endswith("*"):
                    yield method, pattern.rstrip("/") if pattern.endswith("/") else f"{pattern}/"
        else:
            # A kind of route whose paths can't be read, such as that of a host.
            yield "ALL", "/*"
    # FastAPI's files of a front end, which come after all routes.
    if getattr(router, "_low_priority_routes", ()):
        yield "GET", "/*"


def _websocket_patterns(routes: Sequence[BaseRoute], prefix: str = "") -> Iterator[str]:
    for route, path in _flat(routes):
        if isinstance(route, Host):
            yield from _websocket_patterns(route.routes, prefix)
        elif path is None:
            continue
        elif isinstance(route, WebSocketRoute):
            yield _pattern(prefix + path)
        elif isinstance(route, Mount):
            if route.routes:
                yield from _websocket_patterns(route.routes, prefix + path)
            elif not isinstance(route.app, StaticFiles):
                # An app whose routes can't be read. One of files is known to take no handshakes.
                yield _below(prefix + path)


def _below(path: str) -> str:
    """Pattern of all paths below a mount."""
    return f"{_pattern(path)}/*".replace("*/*", "*")


def _flat(routes: Sequence[BaseRoute]) -> Iterator[tuple[Any, str | None]]:
    """Each route with its whole path: FastAPI keeps those of an included router together."""
    for route in routes:
        contexts = getattr(route, "effective_route_contexts", None)
        if contexts is None:
            yield route, getattr(route, "path", None)
            continue
        for context in contexts():
            inner = context.starlette_route or context.original_route
            yield inner, getattr(context.starlette_route, "path", None) or getattr(context, "path", None)


def _pattern(path: str) -> str:
    """`/users/{id}/files/{name:path}` as `/users/:p/files/*`."""
    segments: list[str] = []
    for segment in path.split("/"):
        if ":" in segment and not _is_one_segment(segment):
            return "/".join([*segments, "*"])
        segments.append(":p" if _SPECIAL.intersection(segment) else segment)
    return "/".join(segments)


def _is_one_segment(segment: str) -> bool:
    convertors = [part.split("}")[0] for part in segment.split(":")[1:]]
    return "{" not in segment or all(convertor in ("str", "int", "float", "uuid") for convertor in convertors)
