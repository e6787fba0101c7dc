"""The entry point of the auth process: the user's auth module runs here, beside the api, which waits for its answers."""

from __future__ import annotations

import traceback
from typing import Any

from .channel import sendable
from .module_process import LoadedModule, run_module_process
from .modules import load_export

_WHAT_WOULD_BE_RIGHT = "an Auth of langgraph_sdk"


def _load(file: str, name: str) -> LoadedModule:
    # langgraph_sdk is the project's own: a version that lacks something is reported, not thrown before the api listens.
    from .auth_module import AuthModule

    module = AuthModule(load_export(file, name, _WHAT_WOULD_BE_RIGHT), f'{file}: "{name}"')

    async def answer(message: dict[str, Any]) -> Any:
        if message["type"] == "authenticate":
            return await module.authenticate(message["request"])
        return await module.authorize(message["question"])

    return LoadedModule({"uncovered": module.uncovered(), "generallyCoveredStore": module.generally_covered_store()}, answer)


def _failure_of(error: BaseException) -> dict[str, Any]:
    from .auth_module import failure_of

    return failure_of(error) or {"message": sendable("".join(traceback.format_exception(error)))}


if __name__ == "__main__":
    run_module_process(_load, _failure_of)
