import { execFile } from 'node:child_process';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { decodeProtobuf, type Span } from '../../src/traces/otel/otlp-decoder';
import { type Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';

describe('OpenTelemetry traces', () => {
  let collector: Server;
  let gantry: Gantry;
  const spans: Span[] = [];
  const bodies: Buffer[] = [];

  beforeAll(async () => {
    // The bundle as in the image, since a worker on a busy machine takes long to make it.
    await promisify(execFile)(process.execPath, [
      join(__dirname, '..', '..', 'scripts', 'bundle-workflows.mjs'),
      '--traced',
    ]);
    collector = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks);
        bodies.push(body);
        if (request.url === '/v1/traces') spans.push(...decodeProtobuf(body));
        response.setHeader('content-type', 'application/x-protobuf').end();
      });
    });
    await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    const { port } = collector.address() as AddressInfo;
    gantry = await startGantry({
      graphProcesses: 1,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: '200' },
    });
  }, 240_000);

  afterAll(async () => {
    await gantry?.stop();
    collector?.closeAllConnections();
    await new Promise((resolve) => collector.close(resolve));
  });

  const withName = (name: string) => spans.filter((span) => span.traceId === TRACE_ID && span.name === name);

  /** The names from a span up to the one whose parent is the caller's. */
  function lineOf(span: Span): string[] {
    if (span.parentSpanId === PARENT_ID) return [span.name];
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return [...(parent ? lineOf(parent) : [`no span ${span.parentSpanId}`]), span.name];
  }

  it('lead from the caller through the request and the workflow to the activity', async () => {
    const body = JSON.stringify({ assistant_id: 'three', input: { note: 'secret-in-the-body' } });
    const status = await new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': body.length };
      const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`;
      const asked = request(
        `${gantry.url}/runs/wait?secret=in-the-address`,
        { method: 'POST', headers: { ...headers, traceparent } },
        (response) => response.resume().once('end', () => resolve(response.statusCode)),
      );
      asked.once('error', reject).flushHeaders();
      // Sent like the body of a distant client: after the headers, in two pieces.
      setTimeout(() => asked.write(body.slice(0, 20)), 100);
      setTimeout(() => asked.end(body.slice(20)), 200);
    });
    expect(status).toBe(200);
    await waitFor(
      'the spans',
      () => ['RunActivity:beginRun', 'RunWorkflow:runWorkflow', 'POST /runs/wait'].every((name) => withName(name)[0]),
      30_000,
    );
    expect(withName('RunActivity:beginRun').map(lineOf)).toEqual([
      [
        'POST /runs/wait',
        // A failed attempt may precede it: a new namespace doesn't know the search attributes yet.
        'StartWorkflow:runWorkflow',
        'RunWorkflow:runWorkflow',
        'StartActivity:beginRun',
        'RunActivity:beginRun',
      ],
    ]);
    expect(withName('POST /runs/wait')[0].attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/runs/wait',
      'http.response.status_code': 200,
    });
    expect(withName('RunWorkflow:runWorkflow')[0].attributes).toHaveProperty(
      'workflowId',
      expect.stringMatching(/^run-/),
    );
    expect(Buffer.concat(bodies).toString('latin1')).not.toMatch(/secret-in-the-body|in-the-address/);
  });

  it('omit probes and scrapers', async () => {
    await fetch(`${gantry.url}/ok`);
    await fetch(`${gantry.url}/metrics`);
    await fetch(`${gantry.url}/info`);
    await waitFor('a later span', () => spans.some(({ name }) => name === 'GET /info'));
    expect(spans.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['GET /ok']));
    expect(spans.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['GET /metrics']));
  });
});
