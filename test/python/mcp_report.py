"""What a session or client of MCP, of either generation, reads of prompts and resources."""

import json


async def prompts_and_resources(client):
    """Returns the names of the prompts, the text of one, and the value of an item of the store."""
    prompts = [prompt.name for prompt in (await client.list_prompts()).prompts]
    prompt = await client.get_prompt("test_prompt_with_arguments", {"arg1": "a", "arg2": "b"})
    resources = (await client.list_resources()).resources
    note = next(each for each in resources if str(each.uri).startswith("gantry://store/notes/"))
    resource = json.loads((await client.read_resource(note.uri)).contents[0].text)["value"]
    return {"prompts": prompts, "prompt": prompt.messages[0].content.text, "resource": resource}
