"""Sends spans with OpenTelemetry's real OTLP exporter, children before their parents, then a trace by LangSmith's own
OpenTelemetry mode; prints nothing.

usage: traces_otel.py <api url> <project>
"""

import os
import sys

url, project = sys.argv[1:3]
os.environ.update(
    LANGSMITH_OTEL_ENABLED="true",
    LANGSMITH_OTEL_ONLY="true",
    LANGSMITH_ENDPOINT=url,
    LANGSMITH_API_KEY="x",
    LANGSMITH_TRACING="true",
    LANGSMITH_PROJECT=f"{project} langsmith",
)

from langsmith import Client, traceable  # noqa: E402
from opentelemetry.exporter.otlp.proto.http import Compression  # noqa: E402
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: E402
from opentelemetry.sdk.resources import Resource  # noqa: E402
from opentelemetry.sdk.trace import TracerProvider  # noqa: E402
from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: E402

exporter = OTLPSpanExporter(
    endpoint=f"{url}/otel/v1/traces",
    headers={"x-api-key": "x", "langsmith-project": project},
    compression=Compression.Gzip,
)
provider = TracerProvider(resource=Resource.create({"service.name": "otel-test"}))
# One request a span, in the order in which spans end: every child comes before its parent.
provider.add_span_processor(SimpleSpanProcessor(exporter))
tracer = provider.get_tracer("gantry-test")

with tracer.start_as_current_span("agent"):
    with tracer.start_as_current_span("model") as span:
        span.set_attribute("gen_ai.operation.name", "chat")
        span.set_attribute("gen_ai.system", "openai")
        span.set_attribute("gen_ai.request.model", "gpt-x")
        span.set_attribute("gen_ai.prompt.0.role", "user")
        span.set_attribute("gen_ai.prompt.0.content", "why?")
        span.set_attribute("gen_ai.completion", '{"text": "because"}')
        span.set_attribute("gen_ai.usage.input_tokens", 3)
        span.set_attribute("gen_ai.usage.output_tokens", 4)
        span.set_attribute("langsmith.metadata.user", "ann")
        span.set_attribute("langsmith.span.tags", "one, two")
        span.set_attribute("other.attribute", [1, 2])
        with tracer.start_as_current_span("tool") as inner:
            inner.set_attribute("openinference.span.kind", "TOOL")
            inner.record_exception(ValueError("no luck"))
provider.shutdown()


@traceable(run_type="llm")
def leaf(question: str) -> str:
    return f"answer to {question}"


@traceable
def root(question: str) -> dict:
    return {"text": leaf(question)}


client = Client()
root("why?", langsmith_extra={"client": client})
client.flush()
from opentelemetry import trace  # noqa: E402

trace.get_tracer_provider().force_flush()
