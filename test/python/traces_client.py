"""Traces with the real LangSmith client and reads back, through every transport; prints one JSON object for the test.

usage: traces_client.py <api url> <project> <zstd|multipart|batch>
"""

import json
import os
import sys
import time
import uuid

from langsmith import Client, traceable
from langsmith.run_helpers import tracing_context

url, project, transport = sys.argv[1:4]
os.environ["LANGSMITH_DISABLE_RUN_COMPRESSION"] = "false" if transport == "zstd" else "true"
client = Client(api_url=url, api_key="x", info=None)
if transport == "batch":
    client.info.batch_ingest_config["use_multipart_endpoint"] = False


@traceable(run_type="tool", tags=["leaf"])
def leaf(question: str) -> str:
    return f"answer to {question}"


@traceable
def failing() -> None:
    raise ValueError("no luck")


@traceable(metadata={"thread_id": "thread-1"})
def root(question: str) -> dict:
    try:
        failing()
    except ValueError:
        pass
    return {"text": leaf(question)}


with tracing_context(enabled=True, client=client, project_name=project):
    root("why?")

# Run by run: no trace id, so these go one by one to POST /runs and PATCH /runs/{id}.
single = uuid.uuid4()
client.create_run("single", {"a": 1}, "llm", id=single, project_name=project)
client.update_run(single, outputs={"usage_metadata": {"input_tokens": 1, "output_tokens": 2, "total_tokens": 3}})
client.flush()

session = client.read_project(project_name=project, include_stats=True)
runs = list(client.list_runs(project_name=project))
roots = list(client.list_runs(project_name=project, is_root=True))
failed = list(client.list_runs(project_name=project, error=True))
filtered = list(client.list_runs(project_name=project, filter='and(eq(run_type, "tool"), has(tags, "leaf"))'))
one = client.read_run(single)
tree = client.read_run(next(run for run in roots if run.name == "root").id, load_child_runs=True)
feedback = client.create_feedback(single, "quality", score=0.5, comment="fine")
client.flush()
deadline = time.time() + 10
while not (entries := list(client.list_feedback(run_ids=[single]))) and time.time() < deadline:
    time.sleep(0.1)
stats = client.get_run_stats(project_names=[project])
projects = [entry.name for entry in client.list_projects()]
updated = client.update_project(session.id, description="described")

print(
    json.dumps(
        {
            "names": sorted(run.name for run in runs),
            "roots": sorted(run.name for run in roots),
            "failed": [[run.name, (run.error or "")[:20]] for run in failed],
            "filtered": [run.name for run in filtered],
            "single": {
                "status": one.status,
                "inputs": one.inputs,
                "total_tokens": one.total_tokens,
                "run_type": one.run_type,
            },
            "children": sorted(run.name for run in tree.child_runs or []),
            "metadata_thread": tree.metadata.get("thread_id"),
            "outputs": tree.outputs,
            "ended": all(run.end_time and run.start_time <= run.end_time for run in runs),
            "stats": {key: stats[key] for key in ("run_count", "total_tokens")},
            "session_run_count": session.run_count,
            "listed": project in projects,
            "missing": client.has_project("no such project"),
            "description": updated.description,
            "compressed": client.compressed_traces is not None,
            "feedback": [[entry.key, entry.score, entry.comment] for entry in entries],
        }
    )
)
