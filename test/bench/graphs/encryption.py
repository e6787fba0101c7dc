"""An encryption that costs next to nothing itself: what it takes is Gantry's part."""

import json
from typing import Any

from langgraph_sdk import Encryption, EncryptionContext

encryption = Encryption()


@encryption.encrypt.blob
async def encrypt_blob(ctx: EncryptionContext, blob: bytes) -> bytes:
    return blob[::-1]


@encryption.decrypt.blob
async def decrypt_blob(ctx: EncryptionContext, blob: bytes) -> bytes:
    return blob[::-1]


@encryption.encrypt.json
async def encrypt_json(ctx: EncryptionContext, data: dict[str, Any]) -> dict[str, Any]:
    return {name: json.dumps(value)[::-1] for name, value in data.items()}


@encryption.decrypt.json
async def decrypt_json(ctx: EncryptionContext, data: dict[str, Any]) -> dict[str, Any]:
    return {name: json.loads(value[::-1]) for name, value in data.items()}
