"""A chat model that calls the tool that it is asked to call, and otherwise says what was said."""

import json
import re
from collections.abc import Iterator
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult


class RuleModel(BaseChatModel):
    @property
    def _llm_type(self) -> str:
        return "rules"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], stop=None, run_manager=None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=answer(messages))])

    def _stream(
        self, messages: list[BaseMessage], stop=None, run_manager=None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        whole = answer(messages)
        if whole.tool_calls:
            calls = [
                {"name": call["name"], "args": json.dumps(call["args"]), "id": call["id"], "index": 0}
                for call in whole.tool_calls
            ]
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=calls))
            return
        pieces = re.findall(r"\S+\s*", str(whole.content))
        for number, piece in enumerate(pieces, 1):
            # As the models of many providers, it counts its tokens in the last piece.
            usage = UsageMetadata(input_tokens=1, output_tokens=number, total_tokens=number + 1)
            is_last = number == len(pieces)
            chunk = ChatGenerationChunk(message=AIMessageChunk(piece, usage_metadata=usage if is_last else None))
            if run_manager:
                run_manager.on_llm_new_token(piece, chunk=chunk)
            yield chunk


def answer(messages: list[BaseMessage]) -> AIMessage:
    last = messages[-1]
    if isinstance(last, ToolMessage):
        return AIMessage(f"The tool says: {last.content}")
    called = re.match(r"call (\w+) (\{.*\})", str(last.content))
    if called:
        call = ToolCall(name=called[1], args=json.loads(called[2]), id=f"call_{len(messages)}")
        return AIMessage("", tool_calls=[call])
    return AIMessage(f"You said: {last.content}")
