"""Errors of user code: their texts and their causes."""

from __future__ import annotations

from collections.abc import Iterator

from .channel import sendable

# Errors of one chain that are looked at: it may be a circle.
_MAX_CAUSES = 100


def message_of(error: BaseException) -> str:
    """The error's text as messages hold it. Never raises, as `__str__` of user code may."""
    try:
        return sendable(str(error))
    except BaseException:
        return "The error has no text"


def causes_of(error: BaseException) -> Iterator[BaseException]:
    """The error and its causes."""
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if cause is None:
            return
        yield cause
        cause = cause.__cause__
