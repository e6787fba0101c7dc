"""A module beside the packages of the folder."""


def speaker(name: str) -> str:
    return f"{name}: "


def token_of(header: str | None) -> str | None:
    scheme, _, token = (header or "").partition(" ")
    return token if scheme == "Bearer" and token else None
