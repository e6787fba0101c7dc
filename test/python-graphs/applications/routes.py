"""Routes of an application that asks its own agent."""

from collections.abc import AsyncIterator

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.responses import StreamingResponse
from langgraph_sdk import get_client
from pydantic import BaseModel
from speakers import speaker

router = APIRouter(prefix="/chat")


class Question(BaseModel):
    text: str


def caller(request: Request) -> str:
    return request.user.identity


@router.post("/{name}")
async def ask(name: str, question: Question, user: str = Depends(caller)) -> StreamingResponse:
    async def words() -> AsyncIterator[str]:
        yield speaker(user)
        given = {"messages": [{"role": "user", "content": question.text}]}
        async for chunk in get_client().runs.stream(None, name, input=given, stream_mode="messages-tuple"):
            if chunk.event == "messages":
                yield chunk.data[0]["content"]

    return StreamingResponse(words(), media_type="text/plain")


app = FastAPI()
app.include_router(router)
