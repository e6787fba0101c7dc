"""Uploads of the real LangSmith client, caught before they are sent; one JSON line (body in base64, headers) for each.

usage: trace_payloads.py <requests> <bytes of inputs and outputs of a run> <runs a request>
"""

import base64
import json
import os
import random
import sys
import threading
import uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from langsmith import Client

requests, size, per_request = (int(argument) for argument in sys.argv[1:4])
INFO = {
    "version": "0.1.0",
    "batch_ingest_config": {
        "use_multipart_endpoint": True,
        "size_limit": per_request,
        "size_limit_bytes": 20971520,
        "scale_up_qsize_trigger": 1000,
        "scale_up_nthreads_limit": 1,
        "scale_down_nempty_trigger": 4,
    },
    "instance_flags": {"zstd_compression_enabled": True},
}
lock = threading.Lock()


class Catcher(BaseHTTPRequestHandler):
    def answer(self, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        self.answer(INFO)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        wanted = ("content-type", "content-encoding")
        headers = {name: self.headers[name] for name in wanted if self.headers[name]}
        with lock:
            print(json.dumps({"body": base64.b64encode(body).decode(), "headers": headers}), flush=True)
        self.answer({})

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Catcher)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ["LANGSMITH_TRACING"] = "true"
client = Client(api_url=f"http://127.0.0.1:{server.server_port}", api_key="x")
WORDS = [uuid.uuid4().hex[:7] for _ in range(5000)]


def text(length: int) -> str:
    return " ".join(random.choices(WORDS, k=length // 8))


for _ in range(requests):
    for _ in range(per_request):
        run_id = uuid.uuid4()
        now = datetime.now(timezone.utc)
        client.create_run(
            "step",
            {"question": text(size // 2)},
            "chain",
            id=run_id,
            trace_id=run_id,
            dotted_order=now.strftime("%Y%m%dT%H%M%S%fZ") + str(run_id),
            start_time=now,
            end_time=now,
            outputs={"answer": text(size // 2)},
            project_name="bench",
            extra={"metadata": {"user": "ann"}},
        )
    client.flush()
