"""What the agent can be configured with."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Context:
    system_prompt: str = field(default="You are a helpful AI assistant.")
    model: str = field(default="openai/gpt-4.1-mini")
