"""The user's Auth object of langgraph_sdk: asks its handlers, and reads their answers the way the hosted server does."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import orjson
from langgraph_sdk import Auth

from .channel import sendable
from .user import User

# Every question that may be asked (src/auth/custom/protocol.ts): a pair without a handler is refused.
_CRUD = ("create", "read", "update", "delete", "search")
_EVENTS: dict[str, tuple[str, ...]] = {
    "assistants": _CRUD,
    "threads": (*_CRUD, "create_run"),
    "crons": _CRUD,
    "store": ("put", "get", "search", "delete", "list_namespaces"),
}
_REQUEST_PARAMETERS = frozenset(
    ("request", "scope", "method", "path", "path_params", "query_params", "headers", "authorization")
)


class Refusal(Exception):
    """A refusal on behalf of the module."""

    def __init__(self, status_code: int, detail: str) -> None:
        super().__init__(detail)
        self.status_code = status_code
        self.detail = detail


class QueryParams(dict[str, str]):
    """The parameters of a query, read as those of Starlette: the last value of each name, and a list of all values."""

    def __init__(self, query: str) -> None:
        self._pairs = parse_qsl(query, keep_blank_values=True)
        super().__init__(self._pairs)

    def getlist(self, key: str) -> list[str]:
        return [value for name, value in self._pairs if name == key]

    def multi_items(self) -> list[tuple[str, str]]:
        return list(self._pairs)


class AuthModule:
    def __init__(self, exported: Any, where: str) -> None:
        """Raises TypeError when `exported` is no Auth object or can't authenticate; `where` names it."""
        if not isinstance(exported, Auth):
            raise TypeError(f"{where} is not an Auth of langgraph_sdk")
        if exported._authenticate_handler is None:
            raise TypeError(f"{where} has no authenticate handler")
        self._authenticate: Any = exported._authenticate_handler
        self._handlers = exported._handlers
        self._global_handlers = exported._global_handlers
        self._parameters = inspect.signature(self._authenticate).parameters
        unknown = [
            name
            for name, parameter in self._parameters.items()
            if name not in _REQUEST_PARAMETERS
            and parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]
        if unknown:
            known = ", ".join(sorted(_REQUEST_PARAMETERS))
            raise TypeError(f"{where}: authenticate takes {', '.join(unknown)}; it is given what it names of {known}")

    def uncovered(self) -> list[str]:
        """Questions that no handler answers: they are refused."""
        return [
            f"{resource}:{action}"
            for resource, actions in _EVENTS.items()
            for action in actions
            if self._handler_for(resource, action)[0] is None
        ]

    def generally_covered_store(self) -> list[str]:
        """Questions about the store that a handler for every kind of resource answers."""
        found = ((action, self._handler_for("store", action)) for action in _EVENTS["store"])
        return [f"store:{action}" for action, (handler, is_general) in found if handler is not None and is_general]

    async def authenticate(self, request: dict[str, Any]) -> dict[str, Any]:
        given = _arguments(request, self._parameters)
        if inspect.iscoroutinefunction(self._authenticate):
            answer = await self._authenticate(**given)
        else:
            answer = await asyncio.to_thread(self._authenticate, **given)
            if inspect.isawaitable(answer):
                answer = await answer
        if answer is None or answer is False:
            raise Refusal(401, "Not authenticated")
        user: dict[str, Any] = _plain(_user_fields(answer))
        return user

    async def authorize(self, question: dict[str, Any]) -> dict[str, Any]:
        """The handler's filter and its changes to the value. No handler means no: what was forgotten must not be open."""
        resource, action = question["resource"], question["action"]
        value = _with_tuples(question["value"]) if resource == "store" else question["value"]
        handler, is_general = self._handler_for(resource, action)
        if handler is None:
            raise Refusal(403, f"Forbidden: the custom auth has no handler for {resource}:{action}")
        fields = question["user"]
        context = Auth.types.AuthContext(
            user=_user(fields), permissions=fields["permissions"], resource=resource, action=action
        )
        try:
            answer = await handler(ctx=context, value=value)
        except AssertionError as error:
            raise Refusal(403, str(error) or "Forbidden") from error
        if answer is False:
            raise Refusal(403, "Forbidden")
        changed = {"value": _plain(value)}
        if answer is None or answer is True:
            return changed
        if not isinstance(answer, Mapping):
            raise TypeError(f"the handler for {resource}:{action} returned neither a filter nor a bool")
        return {**changed, "filter": _plain(answer), **({"isGeneral": True} if is_general else {})}

    def _handler_for(self, resource: str, action: str) -> tuple[Any, bool]:
        """The most specific handler, and whether it is one for every kind of resource."""
        for key in ((resource, action), (resource, "*"), ("*", action), ("*", "*")):
            if found := self._handlers.get(key):
                return found[-1], key[0] == "*"
        return (self._global_handlers[-1], True) if self._global_handlers else (None, False)


def failure_of(error: BaseException) -> dict[str, Any] | None:
    """A refusal as clients may see it, be it of langgraph_sdk or Starlette; None for a mistake of the module.

    Errors of other libraries have statuses as well: one from 500 on is the reason of a mistake, unless the module chose it.
    """
    status = getattr(error, "status_code", None)
    is_chosen = any(kind.__name__ == "HTTPException" for kind in type(error).__mro__)
    if not isinstance(status, int) or not 400 <= status < (600 if is_chosen else 500):
        return None
    headers = getattr(error, "headers", None) or {}
    return {
        "status": status,
        "message": sendable(str(getattr(error, "detail", None) or "Unauthorized")),
        "headers": {sendable(str(name)).lower(): sendable(str(value)) for name, value in headers.items()},
    }


def _with_tuples(value: dict[str, Any]) -> dict[str, Any]:
    """A question about the store with namespaces as langgraph_sdk types them, which handlers extend and compare."""
    namespaces = {name: tuple(value[name]) for name in ("namespace", "suffix") if isinstance(value.get(name), list)}
    return {**value, **namespaces}


def _arguments(request: dict[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a request that `authenticate` may take, by name."""
    url = urlsplit(request["url"])
    headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request["headers"]]
    scope = {
        "type": "http",
        "http_version": "1.1",
        "scheme": url.scheme,
        "server": (url.hostname or "", url.port),
        "method": request["method"],
        "path": url.path,
        "raw_path": url.path.encode(),
        "root_path": "",
        "path_params": request.get("pathParams") or {},
        "query_string": url.query.encode(),
        "headers": headers,
    }
    fields = dict(headers)
    authorization = fields.get(b"authorization")
    known: dict[str, Any] = {
        "scope": scope,
        "method": scope["method"],
        "path": scope["path"],
        "path_params": scope["path_params"],
        "query_params": QueryParams(url.query),
        "headers": fields,
        "authorization": authorization.decode("latin-1") if authorization is not None else None,
    }
    if "request" in wanted:
        # Only a module that names Starlette's type asks for it, so that the project has the library.
        from starlette.requests import Request  # type: ignore[import-not-found, unused-ignore]

        known["request"] = Request(scope)
    return {name: value for name, value in known.items() if name in wanted}


def _user(fields: dict[str, Any]) -> Any:
    if fields.get("kind") == "StudioUser":
        return Auth.types.StudioUser(fields["identity"], is_authenticated=True)
    return User(fields)


def _user_fields(answer: Any) -> dict[str, Any]:
    if isinstance(answer, tuple) and len(answer) == 2:
        permissions, user = answer
        return _complete({**_identified(user), "permissions": permissions})
    return _complete(_identified(answer))


def _identified(user: Any) -> dict[str, Any]:
    if isinstance(user, str):
        return {"identity": user}
    fields = _fields(user)
    if not isinstance(fields.get("identity"), str):
        raise TypeError(
            "authenticate returned neither a str nor something with an identity, nor a pair of permissions and one of these"
        )
    return fields


def _fields(answer: Any) -> dict[str, Any]:
    if isinstance(answer, Mapping):
        return dict(answer)
    if dataclasses.is_dataclass(answer) and not isinstance(answer, type):
        return dataclasses.asdict(answer)
    for method in ("model_dump", "dict", "to_dict"):
        if callable(dump := getattr(answer, method, None)):
            return {**_properties(answer), **dump()}
    own = {name: value for name, value in getattr(answer, "__dict__", {}).items() if not name.startswith("_")}
    return {**own, **_properties(answer)}


def _properties(answer: Any) -> dict[str, Any]:
    names = ("identity", "display_name", "is_authenticated", "permissions")
    return {name: getattr(answer, name) for name in names if hasattr(answer, name)}


def _complete(fields: dict[str, Any]) -> dict[str, Any]:
    permissions, name, authenticated = (fields.get(key) for key in ("permissions", "display_name", "is_authenticated"))
    listed = isinstance(permissions, (Sequence, set, frozenset)) and not isinstance(permissions, str)
    return {
        **fields,
        "permissions": [str(each) for each in permissions or ()] if listed else [],
        "display_name": name if isinstance(name, str) else fields["identity"],
        "is_authenticated": authenticated if isinstance(authenticated, bool) else True,
    }


def _plain(value: Any) -> Any:
    """The value as plain JSON, since it crosses a process boundary and is stored."""

    def form(odd: Any) -> Any:
        if isinstance(odd, (set, frozenset)):
            return list(odd)
        if callable(dump := getattr(odd, "model_dump", None)):
            return dump()
        return dict(odd) if isinstance(odd, Mapping) else str(odd)

    return orjson.loads(orjson.dumps(value, default=form, option=orjson.OPT_NON_STR_KEYS))
