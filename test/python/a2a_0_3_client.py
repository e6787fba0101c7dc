"""Uses the A2A client of the 0.3 generation as another agent would; prints what it got as JSON. Argument: the address of the API."""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import DataPart, Message, Part, Role, TaskIdParams, TaskQueryParams, TextPart


def say(text, *data, **more):
    parts = [Part(root=TextPart(text=text)), *(Part(root=DataPart(data=each)) for each in data)]
    return Message(message_id=str(uuid.uuid4()), role=Role.user, parts=parts, **more)


def text_of(task):
    return "".join(part.root.text for artifact in task.artifacts or [] for part in artifact.parts)


async def refusal(awaitable):
    try:
        await awaitable
    except Exception as error:  # the type is what is looked at
        return str(error)
    return None


async def last(events):
    found = None
    async for found in events:
        pass
    return found[0]


async def use(url):
    out = {}
    async with httpx.AsyncClient(timeout=60) as http:

        async def connect(agent, streaming=True):
            card = await A2ACardResolver(http, url, f"/a2a/{agent}/.well-known/agent-card.json").get_agent_card()
            return card, ClientFactory(ClientConfig(httpx_client=http, streaming=streaming)).create(card)

        card, talk = await connect("talk")
        out["name"] = card.name
        streamed = await last(talk.send_message(say("Count")))
        out["streamed"] = text_of(streamed)
        out["last"] = streamed.status.state.value
        out["read"] = text_of(await talk.get_task(TaskQueryParams(id=streamed.id)))
        _, patient = await connect("talk", streaming=False)
        out["sent"] = text_of(await last(patient.send_message(say("Count"))))

        _, desk = await connect("desk")
        asked = await last(desk.send_message(say("Refund me")))
        out["asked"] = asked.status.state.value
        answer = say("yes", task_id=asked.id, context_id=asked.context_id)
        out["answered"] = text_of(await last(desk.send_message(answer)))

        _, prose = await connect("prose")
        stream = prose.send_message(say("Tell"))
        begun = (await anext(stream))[0].id
        await stream.aclose()
        out["rejoined"] = (await last(prose.resubscribe(TaskIdParams(id=begun)))).status.state.value
        stream = prose.send_message(say("Tell", {"words": 5000}))
        begun = (await anext(stream))[0].id
        out["canceled"] = (await prose.cancel_task(TaskIdParams(id=begun))).status.state.value
        out["end"] = (await last(stream)).status.state.value
        unknown = str(uuid.uuid4())
        out["unknown"] = await refusal(talk.get_task(TaskQueryParams(id=unknown)))
        out["unknownStream"] = await refusal(last(talk.resubscribe(TaskIdParams(id=unknown))))
    print(json.dumps(out))


asyncio.run(use(*sys.argv[1:]))
