"""An encryption whose key depends on the context. What is searched by stays readable.

What says `unencryptable` can't be encrypted, and what says `undecryptable` can't be decrypted.
"""

import json
from base64 import b64decode, b64encode
from hashlib import sha256
from itertools import cycle
from typing import Any

from langgraph_sdk import Encryption, EncryptionContext
from langgraph_sdk.encryption.types import DecryptResult

encryption = Encryption()
PREFIX = "sealed:"
READABLE = ("owner", "readers")


def _transformed(ctx: EncryptionContext, data: bytes) -> bytes:
    key = sha256(f"{ctx.metadata.get('tenant')} {ctx.metadata.get('key')}".encode()).digest()
    return bytes(byte ^ other for byte, other in zip(data, cycle(key)))


def _check(data: bytes) -> None:
    if b"unencryptable" in data:
        raise ValueError("the key service says no")


@encryption.context
async def context(user: Any, ctx: EncryptionContext) -> dict[str, Any]:
    return {**ctx.metadata, "tenant": user.identity}


@encryption.encrypt.blob
async def encrypt_blob(ctx: EncryptionContext, blob: bytes) -> bytes:
    _check(blob)
    return _transformed(ctx, blob)


@encryption.decrypt.blob
async def decrypt_blob(ctx: EncryptionContext, blob: bytes) -> bytes:
    return _transformed(ctx, blob)


@encryption.encrypt.json
async def encrypt_json(ctx: EncryptionContext, data: dict[str, Any]) -> dict[str, Any]:
    _check(json.dumps(data).encode())
    if ctx.field == "metadata" and data.get("mistake"):
        return {"all": "of it"}
    return {
        name: value if name in READABLE else PREFIX + b64encode(_transformed(ctx, json.dumps(value).encode())).decode()
        for name, value in data.items()
    }


@encryption.decrypt.json
async def decrypt_json(ctx: EncryptionContext, data: dict[str, Any]) -> Any:
    plain = {
        name: json.loads(_transformed(ctx, b64decode(value[len(PREFIX) :])))
        if isinstance(value, str) and value.startswith(PREFIX)
        else value
        for name, value in data.items()
    }
    if "undecryptable" in json.dumps(plain):
        raise ValueError("the key service has lost this key")
    return DecryptResult(plain, replacement=data)
