"""Uses the official A2A client as another agent would; prints what it got as JSON. Arguments: the address of the API, the version, the binding."""

import asyncio
import json
import sys
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.types import a2a_pb2 as a2a
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value


def message(text, **more):
    return a2a.SendMessageRequest(
        message=a2a.Message(
            message_id=str(uuid.uuid4()), role=a2a.ROLE_USER, parts=[a2a.Part(text=text)], **more
        )
    )


def plain(event):
    return MessageToDict(event)


async def refusal(awaitable):
    try:
        await awaitable
    except Exception as error:  # the type is what is looked at
        return type(error).__name__
    return None


async def connect(http, url, agent, version, binding, streaming):
    resolver = A2ACardResolver(http, url, f"/a2a/{agent}/.well-known/agent-card.json")
    card = await resolver.get_agent_card()
    spoken = [
        each
        for each in card.supported_interfaces
        if (each.protocol_version, each.protocol_binding) == (version, binding)
    ]
    del card.supported_interfaces[:]
    card.supported_interfaces.extend(spoken)
    return card, ClientFactory(ClientConfig(httpx_client=http, streaming=streaming, supported_protocol_bindings=[binding])).create(card)


async def use(url, version, binding):
    out = {}
    async with httpx.AsyncClient(timeout=60) as http:

        async def raw(body):
            headers = {"content-type": "application/json", "A2A-Version": version}
            return (await http.post(f"{url}/a2a/talk", content=body, headers=headers)).json()

        card, talk = await connect(http, url, "talk", version, binding, streaming=True)
        out["card"] = plain(card)
        out["stream"] = [plain(event) async for event in talk.send_message(message("Count"))]
        task_id = out["stream"][0]["task"]["id"]
        out["task"] = plain(await talk.get_task(a2a.GetTaskRequest(id=task_id)))
        out["unknown"] = await refusal(talk.get_task(a2a.GetTaskRequest(id=str(uuid.uuid4()))))

        out["malformed"] = [
            (await raw(body))["error"]["code"]
            for body in ['{"jsonrpc": "2.0",', '{"id": 1, "method": "x"}', "[]", '{"jsonrpc": "2.0", "id": 1, "method": "x"}']
        ]
        method = "GetTask" if version == "1.0" else "tasks/get"
        out["batch"] = await raw(
            json.dumps(
                [
                    {"jsonrpc": "2.0", "id": each, "method": method, "params": {"id": each}}
                    for each in (task_id, str(uuid.uuid4()))
                ]
            )
        )

        _, patient = await connect(http, url, "talk", version, binding, streaming=False)
        out["sent"] = [plain(event) async for event in patient.send_message(message("Count"))]

        _, desk = await connect(http, url, "desk", version, binding, streaming=True)
        out["asked"] = [plain(event) async for event in desk.send_message(message("Refund me"))]
        asked = out["asked"][0]["task"]["id"]
        out["answered"] = [plain(event) async for event in desk.send_message(message("yes", task_id=asked))]

        _, prose = await connect(http, url, "prose", version, binding, streaming=True)
        stream = prose.send_message(message("Tell"))
        first = plain(await anext(stream))
        telling = first["task"]["id"]
        for _ in range(10):
            await anext(stream)
        await stream.aclose()
        out["rejoined"] = [
            plain(event) async for event in prose.subscribe(a2a.SubscribeToTaskRequest(id=telling))
        ]
        out["read"] = plain(await prose.get_task(a2a.GetTaskRequest(id=telling)))

        # A text so long that the run can't end before it is cancelled, however slow the machine.
        long = message("Tell")
        long.message.parts.append(a2a.Part(data=ParseDict({"words": 5000}, Value())))
        stream = prose.send_message(long)
        first = plain(await anext(stream))
        out["canceled"] = plain(await prose.cancel_task(a2a.CancelTaskRequest(id=first["task"]["id"])))
        await stream.aclose()
        out["anonymous"] = await refusal(connect(http, url, "nobody", version, binding, streaming=True))
    print(json.dumps(out))


asyncio.run(use(*sys.argv[1:]))
