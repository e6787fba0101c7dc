"""Errors of user code: their texts and their causes."""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from typing import Any

from .channel import sendable

# Errors of one chain that are looked at: it may be a circle.
_MAX_CAUSES = 100
# Errors of one group that its text lists.
_MAX_LISTED = 10
# Python has groups, which asyncio.TaskGroup raises, since 3.11; before, no error is one.
_GROUP: Any = getattr(builtins, "BaseExceptionGroup", ())


def message_of(error: BaseException) -> str:
    """The error's text as messages hold it; that of a group lists its errors. Never raises, as user code may."""
    try:
        text = str(error)
        if isinstance(error, _GROUP):
            members = map(ungrouped, error.exceptions[:_MAX_LISTED])
            listed = [f"{type(each).__name__}: {message_of(each)}" for each in members]
            text += f": {'; '.join(listed)}"
        return sendable(text)
    except BaseException:
        return "The error has no text"


def ungrouped(error: BaseException) -> BaseException:
    """The error itself in the place of a group of it alone."""
    while isinstance(error, _GROUP) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """The error, its causes, and the errors of groups among them with theirs."""
    pending: list[BaseException] = [error]
    for _ in range(_MAX_CAUSES):
        if not pending:
            return
        each = pending.pop()
        yield each
        if isinstance(each, _GROUP):
            pending.extend(each.exceptions)
        if each.__cause__ is not None:
            pending.append(each.__cause__)
