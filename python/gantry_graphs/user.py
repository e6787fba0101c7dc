"""The user of a custom auth, as handlers, nodes and routes see them."""

from __future__ import annotations

from typing import Any


class User(dict[str, Any]):
    """The user's fields, as items and as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"The user has no {name!r}") from None
