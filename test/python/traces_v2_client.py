"""Reads traces, threads and projects by the second version of LangSmith's API; prints one JSON object for the test.

usage: traces_v2_client.py <api url> <project id> <root run id> <thread id>
"""

import asyncio
import json
import logging
import sys

from langsmith import Client

url, project, root, thread = sys.argv[1:5]
warnings: list[str] = []


class Collect(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        warnings.append(record.getMessage())


logging.getLogger("langsmith").addHandler(Collect(level=logging.WARNING))


async def main() -> dict:
    client = Client(api_url=url, api_key="x")
    selects = ["NAME", "TOTAL_TOKENS"]
    traces = [trace async for trace in client.traces.query(project_id=project, selects=selects, page_size=2)]
    streamed = [
        trace
        async for trace in client.traces.streaming.query_items(project_id=project, selects=selects, page_size=2)
    ]
    threads = [item async for item in client.threads.streaming.query_items(project_id=project, page_size=1)]
    turns = [turn async for turn in client.threads.list_traces(thread, project_id=project, selects=["TURN_NUMBER"])]
    one = await client.threads.stats(thread, session_id=project, selects=["TURNS", "TOTAL_TOKENS"])
    everything = await client.threads.aggregate_stats(project_id=project, select=["THREAD_COUNT", "ERROR_RATE"])
    shared = await client.runs.share.create(root, session_id=project, trace_id=root)
    runs = await client.public.runs.query(shared.share_token, selects=["NAME"])
    await client.runs.share.delete(root, session_id=project)
    made = await client.sessions.create_v2(type="PROJECT", name="made by python", trace_tier="SHORT_LIVED")
    changed = await client.sessions.update_v2(made.id, description="changed")
    found = [item async for item in client.sessions.list_v2(name="made by python", include_stats=True, page_size=1)]
    token = client.create_presigned_feedback_token(root, "by link")
    client.create_feedback_from_token(token.url, score=1, comment="fine")
    listed = list(client.list_presigned_feedback_tokens(root))
    feedback = list(client.list_feedback(run_ids=[root], feedback_key=["by link"]))
    return {
        "traces": [[trace.root_run.name, trace.trace_aggregates.total_tokens] for trace in traces],
        "streams_the_same": streamed == traces,
        "threads": [[item.thread_id, item.count] for item in threads],
        "turns": [turn.turn_number for turn in turns],
        "one": [one.turns, one.total_tokens],
        "all": [everything.thread_count, round(everything.error_rate, 3)],
        "shared": [run.name for run in runs.items],
        "project": [changed.type, changed.trace_tier, changed.description],
        "found": [[item.name, item.run_count] for item in found],
        "tokens": [item.url == token.url for item in listed],
        "feedback": [[entry.score, entry.comment] for entry in feedback],
        "warnings": warnings,
    }


print(json.dumps(asyncio.run(main())))
