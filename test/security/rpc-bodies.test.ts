import { Agent, request } from 'node:http';
import pLimit from 'p-limit';
import { v7 as uuidv7 } from 'uuid';
import { METHODS_0_3, METHODS_1_0 } from '../../src/a2a/a2a.schemas';
import { amount } from '../support/amount';
import { type Gantry, startGantry } from '../support/gantry';
import { HOSTILE_NUMBERS, HOSTILE_STRINGS, HOSTILE_VALUES } from '../support/hostile-bodies';
import {
  MCP_SESSION_SAMPLES,
  mcpModernSamples,
  type RpcSample,
  type SampleResources,
  samplesOf03,
  samplesOf10,
} from '../support/rpc-samples';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const AT_ONCE = 8;
const INTERNAL_ERROR = -32603;
const RUNS_END_MS = amount(300_000, 1_200_000);
const LITERALS = [
  ...HOSTILE_STRINGS,
  ...HOSTILE_NUMBERS,
  ...HOSTILE_VALUES,
  ...['null', 'true', '[]', '{}', '[[]]', '[null]', '{"__proto__":{"admin":true}}', '{"":null}', '[{"kind":"x"}]'],
];

type Path = (string | number)[];

interface Call {
  path: string;
  headers?: Record<string, string>;
  body: string;
}

/** The places of all values in a value, the whole included. */
function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  const entries = Array.isArray(value) ? value.map((each, index) => [index, each] as const) : Object.entries(value);
  return [path, ...entries.flatMap(([name, each]) => placesIn(each, [...path, name]))];
}

/** JSON of a value with a literal in one place, as JSON.stringify would not write it. */
function written(value: unknown, [name, ...rest]: Path, literal: string): string {
  if (name === undefined) return literal;
  const inner = (key: string | number, each: unknown): string =>
    key === name ? written(each, rest, literal) : JSON.stringify(each);
  if (Array.isArray(value)) return `[${value.map((each, index) => inner(index, each)).join()}]`;
  const fields = Object.entries(value as object).map(([key, each]) => `${JSON.stringify(key)}:${inner(key, each)}`);
  return `{${fields.join()}}`;
}

describe('hostile parameters of JSON-RPC', () => {
  const receiver = new WebhookReceiver();
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  let gantry: Gantry;
  let resources: SampleResources;
  let session: string;
  let thread: string;
  /** Another place to begin with each seed, so that the runs of the suite send all values. */
  let turn = jest.getSeed() % LITERALS.length;

  beforeAll(async () => {
    await receiver.start();
    gantry = await startGantry({
      graphProcesses: 1,
      env: { GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8', GANTRY_PENDING_RUNS_PER_TENANT: '100000' },
    });
    const message = { messageId: uuidv7(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const configuration = { taskPushNotificationConfig: { id: 'c', url: receiver.url() } };
    const sent = await answerTo(a2a({ method: 'SendMessage', params: { message, configuration } }, '1.0'));
    const { task } = (JSON.parse(sent.text) as { result: { task: { id: string } } }).result;
    resources = { task: task.id, config: 'c', receiver: receiver.url() };
    const { headers } = await answerTo(mcp(MCP_SESSION_SAMPLES[0]));
    session = headers['mcp-session-id'] as string;
    thread = (await gantry.client().threads.create()).thread_id;
  });

  afterAll(async () => {
    agent.destroy();
    await gantry?.stop();
    await receiver.stop();
  });

  const a2a = ({ method, params }: RpcSample, version: string, text = JSON.stringify(params)): Call => ({
    path: '/a2a/echo',
    headers: { 'a2a-version': version },
    body: `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":${text}}`,
  });
  const mcp = ({ method, params }: RpcSample, text = JSON.stringify(params), headers = {}): Call => ({
    path: '/mcp',
    headers: { accept: 'application/json, text/event-stream', ...headers },
    body: `{"jsonrpc":"2.0",${method.startsWith('notifications/') ? '' : '"id":1,'}"method":${JSON.stringify(method)},"params":${text}}`,
  });
  const modern = (sample: RpcSample, text?: string): Call =>
    mcp(sample, text, {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': sample.method,
      ...((sample.params.name ?? sample.params.taskId) !== undefined && {
        'mcp-name': String(sample.params.name ?? sample.params.taskId),
      }),
    });

  /** Resolves at the end of the answer, or at its first event where that is a stream. */
  function answerTo({ path, headers, body }: Call) {
    return new Promise<{ status: number; text: string; headers: Record<string, unknown> }>((resolve, reject) => {
      const sent = request(gantry.url + path, {
        method: 'POST',
        agent,
        headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
      });
      sent.on('error', reject);
      sent.on('response', (response) => {
        const isStream = response.headers['content-type']?.includes('event-stream');
        let text = '';
        const done = (): void => resolve({ status: response.statusCode!, text, headers: response.headers });
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (!isStream || !/^data: ?\S.*\n/m.test(text)) return;
          done();
          sent.destroy();
        });
        response.on('end', done).on('error', done);
      });
      sent.end(body);
    });
  }

  /** Hostile values in each place of the parameters: some of them by turns, or all of them. */
  function variantsOf({ params }: RpcSample): string[] {
    return placesIn(params).flatMap((place) =>
      Array.from({ length: amount(2, LITERALS.length) }, () => LITERALS[turn++ % LITERALS.length]).map((literal) =>
        written(params, place, literal),
      ),
    );
  }

  /** Describes each answer that is a failure of the server. */
  async function failures(calls: Call[]): Promise<string[]> {
    const limit = pLimit(AT_ONCE);
    const outcomes = await Promise.all(
      calls.map((call) =>
        limit(async () => {
          const { status, text } = await answerTo(call);
          const isFailure = status >= 500 || text.includes(`"code":${INTERNAL_ERROR}`);
          return isFailure ? `${call.path} ${call.body.slice(0, 600)}: ${status} ${text.slice(0, 300)}` : [];
        }),
      ),
    );
    return outcomes.flat();
  }

  async function expectAlive(): Promise<void> {
    expect(await gantry.client().threads.get(thread)).toMatchObject({ thread_id: thread });
    const message = { messageId: uuidv7(), role: 'ROLE_USER', parts: [{ text: 'hello' }] };
    const { text } = await answerTo(a2a({ method: 'SendMessage', params: { message } }, '1.0'));
    expect(JSON.parse(text)).toMatchObject({ result: { task: { status: { state: 'TASK_STATE_COMPLETED' } } } });
  }

  it.each<[string, Record<string, unknown>, (given: SampleResources) => RpcSample[]]>([
    ['1.0', METHODS_1_0, samplesOf10],
    ['0.3', METHODS_0_3, samplesOf03],
  ])(
    'are no internal errors of A2A %s, in any place of any method',
    async (version, methods, samplesOf) => {
      const samples = samplesOf(resources);
      expect(samples.map(({ method }) => method)).toEqual(Object.keys(methods));
      for (const sample of samples) {
        const { status, text } = await answerTo(a2a(sample, version));
        expect([sample.method, status, text]).toEqual([sample.method, 200, expect.not.stringContaining('-32602')]);
      }
      const calls = samples.flatMap((sample) => variantsOf(sample).map((text) => a2a(sample, version, text)));
      expect(calls.length).toBeGreaterThan(150);
      expect(await failures(calls)).toEqual([]);
      await expectAlive();
    },
    600_000,
  );

  it('are no internal errors of MCP, in any place of any method', async () => {
    const called = await answerTo(modern(mcpModernSamples('none').find(({ method }) => method === 'tools/call')!));
    expect(called.status).toBe(200);
    const calls = [
      ...MCP_SESSION_SAMPLES.flatMap((sample) =>
        variantsOf(sample).map((text) => mcp(sample, text, { 'mcp-session-id': session })),
      ),
      ...MCP_SESSION_SAMPLES.flatMap((sample) => variantsOf(sample).map((text) => mcp(sample, text))),
      ...mcpModernSamples(uuidv7()).flatMap((sample) => variantsOf(sample).map((text) => modern(sample, text))),
    ];
    expect(calls.length).toBeGreaterThan(150);
    expect(await failures(calls)).toEqual([]);
    await expectAlive();
  }, 600_000);

  it('are no internal errors in the envelope either, nor as a batch', async () => {
    const [{ method, params }] = samplesOf10(resources);
    const envelope = { jsonrpc: '2.0', id: 1, method, params };
    const calls = ['jsonrpc', 'id', 'method', 'params'].flatMap((name) =>
      LITERALS.flatMap((literal) => {
        const body = written(envelope, [name], literal);
        return [body, `[${body}]`].flatMap((each): Call[] => [
          { path: '/a2a/echo', body: each },
          { path: '/a2a/echo', body: each, headers: { 'a2a-version': '0.3' } },
          { path: '/mcp', body: each, headers: { accept: 'application/json, text/event-stream' } },
        ]);
      }),
    );
    expect(await failures(calls)).toEqual([]);
    await expectAlive();
  }, 300_000);

  it('do not keep other clients from their answers', async () => {
    const names = Array.from({ length: 100_000 }, (_, index) => `"k${index}":1`).join();
    const large = [`{${names}}`, `[${'1,'.repeat(200_000)}1]`, JSON.stringify('x'.repeat(2_000_000))];
    const [send] = samplesOf10(resources);
    const [legacy] = samplesOf03(resources);
    const tool = MCP_SESSION_SAMPLES.find((sample) => sample.method === 'tools/call')!;
    const heavy = large.flatMap((literal) => [
      a2a(send, '1.0', written(send.params, ['message', 'parts', 0, 'text'], literal)),
      a2a(send, '1.0', written(send.params, ['message', 'parts'], literal)),
      a2a(send, '1.0', written(send.params, ['message', 'metadata'], literal)),
      a2a(legacy, '0.3', written(legacy.params, ['message', 'parts', 1, 'data'], literal)),
      mcp(tool, written(tool.params, ['arguments'], literal)),
      mcp(tool, written(tool.params, ['name'], literal)),
    ]);
    let pending = heavy.length;
    const sent = heavy.map((call) => answerTo(call).finally(() => (pending -= 1)));
    let answered = 0;
    // Another agent's connections: those of this one are all in use.
    while (pending > 0) {
      expect((await fetch(`${gantry.url}/threads/${thread}`)).status).toBe(200);
      answered += 1;
    }
    expect(answered).toBeGreaterThan(2);
    for (const { status } of await Promise.all(sent)) expect(status).toBeLessThan(500);
    // The messages of one context wait for each other, and each run writes its thread's megabytes again.
    await waitFor(
      'the runs to end',
      async () => {
        const { rows } = await gantry.sql.query(`SELECT FROM runs WHERE status IN ('pending', 'running') LIMIT 1`);
        return rows.length === 0;
      },
      RUNS_END_MS,
    );
  }, 400_000);
});
