import { execFile } from 'node:child_process';
import { createServer, type Server } from 'node:http';
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
    // As the image has it: a worker on a busy machine takes long to make it at its start.
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
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_BSP_SCHEDULE_DELAY: '200' },
    });
  }, 240_000);

  afterAll(async () => {
    await gantry?.stop();
    collector?.closeAllConnections();
    await new Promise((resolve) => collector.close(resolve));
  });

  it('go from the caller through the request and the workflow to the activity', async () => {
    const response = await fetch(`${gantry.url}/runs/wait?secret=in-the-address`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` },
      body: JSON.stringify({ assistant_id: 'three', input: { note: 'secret-in-the-body' } }),
    });
    expect(response.status).toBe(200);
    await response.text();
    const chain = [
      'POST /runs/wait',
      'StartWorkflow:runWorkflow',
      'RunWorkflow:runWorkflow',
      'StartActivity:executeRun',
      'RunActivity:executeRun',
    ];
    const ofTrace = (): Span[] => spans.filter(({ traceId }) => traceId === TRACE_ID);
    await waitFor('the spans', () => chain.every((name) => ofTrace().some((span) => span.name === name)), 30_000);

    let parent: string | undefined = PARENT_ID;
    for (const name of chain) {
      const span = ofTrace().find((each) => each.name === name)!;
      expect([name, span.parentSpanId]).toEqual([name, parent]);
      parent = span.spanId;
    }
    expect(ofTrace().find(({ name }) => name === 'POST /runs/wait')!.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.route': '/runs/wait',
      'http.response.status_code': 200,
    });
    expect(Buffer.concat(bodies).toString('latin1')).not.toMatch(/secret-in-the-body|in-the-address/);
  }, 60_000);

  it('leave probes and scrapers out', async () => {
    await fetch(`${gantry.url}/ok`);
    await fetch(`${gantry.url}/metrics`);
    await fetch(`${gantry.url}/info`);
    await waitFor('a later span', () => spans.some(({ name }) => name === 'GET /info'));
    expect(spans.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['GET /ok']));
    expect(spans.map(({ name }) => name)).not.toEqual(expect.arrayContaining(['GET /metrics']));
  });
});
