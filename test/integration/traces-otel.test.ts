import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { CompressionAlgorithm } from '@opentelemetry/otlp-exporter-base';
import { BasicTracerProvider, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Writer } from 'protobufjs';
import { type ApiProcess, startApiProcess } from '../support/api-process';
import { runPython } from '../support/python';

type Json = Record<string, unknown>;

const field = (number: number, content: Uint8Array): Uint8Array =>
  Writer.create()
    .uint32((number << 3) | 2)
    .bytes(content)
    .finish();
const emptySpans = (count: number): Uint8Array =>
  field(1, field(2, Buffer.concat(Array<Uint8Array>(count).fill(field(2, new Uint8Array())))));

describe('OpenTelemetry', () => {
  let api: ApiProcess;

  beforeAll(async () => {
    api = await startApiProcess();
  });
  afterAll(() => api.close());

  async function runsOf(project: string): Promise<Record<string, Json>> {
    const sessions = (await (await fetch(`${api.url}/sessions?name=${encodeURIComponent(project)}`)).json()) as Json[];
    const response = await fetch(`${api.url}/runs/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ session: [sessions[0]?.id] }),
    });
    const { runs } = (await response.json()) as { runs: Json[] };
    return Object.fromEntries(runs.map((run) => [run.name, run]));
  }

  it("accepts what OpenTelemetry's own exporter and LangSmith's OpenTelemetry mode send", async () => {
    const script = join(__dirname, '..', 'python', 'traces_otel.py');
    await runPython([script, `${api.url}/api/v1`, 'otel']);
    const { agent, model, tool } = await runsOf('otel');
    expect(agent).toMatchObject({ run_type: 'chain', status: 'success', parent_run_id: null });
    expect(agent?.id).toBe(agent?.trace_id);
    expect(model).toMatchObject({
      run_type: 'llm',
      trace_id: agent?.id,
      parent_run_id: agent?.id,
      parent_run_ids: [agent?.id],
      inputs: { messages: [{ role: 'user', content: 'why?' }] },
      outputs: { text: 'because' },
      total_tokens: 7,
      tags: ['one', 'two'],
      extra: {
        metadata: { user: 'ann', ls_provider: 'openai', ls_model_name: 'gpt-x' },
        invocation_params: { model: 'gpt-x' },
        otel: {
          attributes: { 'other.attribute': [1, 2] },
          resource: { 'service.name': 'otel-test' },
          scope: 'gantry-test',
        },
      },
    });
    expect(tool).toMatchObject({
      run_type: 'tool',
      status: 'error',
      error: expect.stringContaining('ValueError: no luck') as string,
      parent_run_ids: [agent?.id, model?.id],
    });
    expect(tool?.dotted_order).toMatch(new RegExp(`^${agent?.dotted_order as string}\\..*\\..*${tool?.id as string}$`));

    const { root, leaf } = await runsOf('otel langsmith');
    expect(root).toMatchObject({ run_type: 'chain', outputs: { text: 'answer to why?' }, parent_run_id: null });
    expect(leaf).toMatchObject({ run_type: 'llm', parent_run_id: root?.id, inputs: { question: 'why?' } });
  });

  it.each(['protobuf', 'json'] as const)(
    "accepts what OpenTelemetry's exporter for JavaScript sends: %s, gzip",
    async (form) => {
      const project = `otel js ${form}`;
      const collector = {
        url: `${api.url}/api/v1/otel/v1/traces`,
        headers: { 'langsmith-project': project },
        compression: CompressionAlgorithm.GZIP,
      };
      const exporter = form === 'json' ? new JsonExporter(collector) : new ProtobufExporter(collector);
      const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
      const tracer = provider.getTracer('gantry-test');
      const agent = tracer.startSpan('agent', { attributes: { 'langsmith.metadata.user': 'ann' } });
      const model = tracer.startSpan(
        'model',
        { attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 3 } },
        trace.setSpan(ROOT_CONTEXT, agent),
      );
      model.setAttribute('langsmith.metadata.score', NaN).setAttribute('distance', Infinity);
      model.recordException(new Error('no luck'));
      model.end();
      agent.end();
      await provider.forceFlush();
      await provider.shutdown();
      const runs = await runsOf(project);
      expect(runs.agent).toMatchObject({
        parent_run_id: null,
        status: 'success',
        extra: { metadata: { user: 'ann' } },
      });
      expect(runs.model).toMatchObject({
        run_type: 'llm',
        parent_run_id: runs.agent?.id,
        status: 'error',
        error: expect.stringContaining('no luck') as string,
        prompt_tokens: 3,
        // The exporter of JSON has null for them.
        extra: {
          metadata: { score: form === 'json' ? null : 'NaN' },
          otel: { attributes: { distance: form === 'json' ? null : 'Infinity' } },
        },
      });
    },
  );

  it('accepts the JSON form, a root that arrives after its child, and a replay', async () => {
    const span = (spanId: string, parentSpanId: string, fields: Json = {}) => ({
      traceId: '0af7651916cd43dd8448eb211c80319c',
      spanId,
      parentSpanId,
      name: spanId,
      startTimeUnixNano: '1795168800123456789',
      endTimeUnixNano: '1795168801000000000',
      attributes: [],
      ...fields,
    });
    const send = async (...spans: Json[]) => {
      const response = await fetch(`${api.url}/otel/v1/traces`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'Langsmith-Project': 'otel json' },
        body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
      });
      return { status: response.status, body: (await response.json()) as Json };
    };
    const grandchild = span('00000000000000a3', '00000000000000a2', {
      attributes: [{ key: 'gen_ai.usage.input_tokens', value: { intValue: '5' } }],
    });
    expect(await send(grandchild)).toEqual({ status: 200, body: {} });
    await send(span('00000000000000a2', '00000000000000a1'));
    await send(span('00000000000000a1', ''));
    await send(grandchild);
    const runs = await runsOf('otel json');
    const ids = ['00000000000000a1', '00000000000000a2', '00000000000000a3'].map((name) => runs[name]?.id);
    expect(ids[0]).toBe('0af76519-16cd-43dd-8448-eb211c80319c');
    expect(runs['00000000000000a3']).toMatchObject({
      parent_run_ids: [ids[0], ids[1]],
      total_tokens: 5,
      start_time: '2026-11-20T10:00:00.123456',
      status: 'success',
    });
    expect((await send({ traceId: 'x' })).status).toBe(400);
  });

  it('keeps integers beyond 2^53, and filters compare all of their digits', async () => {
    const order = '12345678901234567890';
    const attributes = [
      { key: 'metadata', value: { stringValue: `{"order":${order}}` } },
      { key: 'input.value', value: { stringValue: `{"id":${order}}` } },
      { key: 'langsmith.metadata.sum', value: { intValue: '1234567890123456789' } },
    ];
    const span = { traceId: 'b'.repeat(32), spanId: 'b'.repeat(16), name: 'exact', attributes };
    const times = '"startTimeUnixNano":1795168800123456789,"endTimeUnixNano":1795168801000000000';
    const response = await fetch(`${api.url}/otel/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'Langsmith-Project': 'otel exact' },
      body: `{"resourceSpans":[{"scopeSpans":[{"spans":[${JSON.stringify(span).slice(0, -1)},${times}}]}]}]}`,
    });
    expect(response.status).toBe(200);
    const [{ id }] = (await (await fetch(`${api.url}/sessions?name=otel%20exact`)).json()) as [Json];
    const query = async (filter: string): Promise<string> => {
      const body = JSON.stringify({ session: [id], filter });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${api.url}/runs/query`, { method: 'POST', headers, body })).text();
    };
    for (const filter of [
      `has(metadata, '{"order":${order}}')`,
      `eq(metadata_value, ${order})`,
      `and(eq(metadata_key, "order"), in(metadata_value, [${order}]))`,
      'eq(metadata_value, 1234567890123456789)',
    ]) {
      const found = await query(filter);
      expect(found).toContain(`"inputs":{"id":${order}}`);
      expect(found).toContain(`"order":${order}`);
      expect(found).toContain('"sum":1234567890123456789');
      expect(found).toContain('"start_time":"2026-11-20T10:00:00.123456"');
      const neighbours = filter.replace(/(\d{18,})/, (digits) => String(BigInt(digits) + 1n));
      expect(JSON.parse(await query(neighbours))).toMatchObject({ runs: [] });
    }
  });

  it('keeps usage whose details have integers beyond 2^53, and such usage in runs as well', async () => {
    const usage = '{"input_tokens":1,"input_token_details":{"cache_read":12345678901234567890}}';
    const span = {
      ...{ traceId: 'd'.repeat(32), spanId: 'd'.repeat(16), name: 'span', startTimeUnixNano: '1795168800123456789' },
      attributes: [{ key: 'langsmith.usage_metadata', value: { stringValue: usage } }],
    };
    const upload = async (path: string, body: string): Promise<number> => {
      const headers = { 'content-type': 'application/json', 'Langsmith-Project': 'otel usage' };
      return (await fetch(api.url + path, { method: 'POST', headers, body })).status;
    };
    const spans = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
    expect(await upload('/otel/v1/traces', spans)).toBe(200);
    const id = 'dddddddd-0000-4000-8000-000000000000';
    const run = JSON.stringify({
      ...{ id, trace_id: id, dotted_order: `20261120T100000000000Z${id}` },
      ...{ name: 'run', run_type: 'llm', session_name: 'otel usage', start_time: '2026-11-20T10:00:00.000000Z' },
    });
    const posted = `{"post":[${run.slice(0, -1)},"outputs":{"usage_metadata":${usage}}}]}`;
    expect(await upload('/api/v1/runs/batch', posted)).toBe(202);
    const expected = { total_tokens: 1, prompt_token_details: { cache_read: Number('12345678901234567890') } };
    expect(await runsOf('otel usage')).toMatchObject({ span: expected, run: expected });
  });

  it.each([
    ['protobuf', 'application/x-protobuf', () => emptySpans(200_000), 'resourceSpans: may have 50000 spans'],
    [
      'JSON',
      'application/json',
      () => `{"resourceSpans":[{"scopeSpans":[{"spans":[${Array<string>(40_000).fill('{}').join()}]}]}]}`,
      'resourceSpans.0.scopeSpans.0.spans.0.traceId: ',
    ],
  ])('answers 400 for a small body that unfolds to very many empty spans: %s', async (_form, type, body, named) => {
    const response = await fetch(`${api.url}/otel/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': type, 'content-encoding': 'gzip' },
      body: gzipSync(body()),
    });
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining(named)]);
  });

  it('puts the spans of an agent into the project of its address', async () => {
    const span = {
      traceId: 'c'.repeat(32),
      spanId: 'c'.repeat(16),
      name: 'helpful',
      startTimeUnixNano: '1795168800123456789',
    };
    const response = await fetch(`${api.url}/otel/v1/traces`, {
      method: 'POST',
      headers: {
        ...{ 'content-type': 'application/json', 'Langsmith-Agent-Id': 'helper' },
        'Langsmith-Agent-Environment': 'PRODUCTION',
      },
      body: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }),
    });
    expect(response.status).toBe(200);
    expect(Object.keys(await runsOf('helper/production'))).toEqual(['helpful']);
  });

  it('answers 400 for bytes that are not protobuf, and 415 for other media types', async () => {
    const statusOf = async (contentType: string, body: string): Promise<number> =>
      (await fetch(`${api.url}/otel/v1/traces`, { method: 'POST', headers: { 'content-type': contentType }, body }))
        .status;
    expect(await statusOf('application/x-protobuf', '\xff\xff\xff\xff')).toBe(400);
    expect(await statusOf('application/x-protobuf', '')).toBe(200);
    expect(await statusOf('application/xml', '<x/>')).toBe(415);
  });
});
