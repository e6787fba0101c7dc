import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CONTRACT, NOT_SENT, type Resources } from '../support/client-contract';
import { clientSignatures, type Signature } from '../support/client-signatures';
import { checkPage, type Served } from '../support/compatibility-page';
import { prepareResources, untilIdle, withQuestion } from '../support/contract-resources';
import { differences } from '../support/control';
import { KNOWN_DIFFERENCES, matches } from '../support/control-differences';
import { type DevServer, SCHEMAS_MS, startDevServer } from '../support/dev-server';
import { Gantry, SHAPE_GRAPHS, startGantry } from '../support/gantry';
import { snakeCase } from '../support/names';
import { OpenApiDocument, type SentRequest } from '../support/openapi-document';
import { PYTHON_CLIENTS, PythonClients } from '../support/python-clients';
import { CALLBACKS, COMMON, pythonCalls, STREAM_ORDERS, unknownExtras } from '../support/python-contract';
import { type Recorded, RecordingClient } from '../support/recording-client';

/** The commands of a thread's stream, which are tried one by one with the event protocol. */
const COMMANDS = {
  run: ['start'],
  input: ['respond', 'inject'],
  state: ['get', 'listCheckpoints', 'fork'],
  agent: ['getTree'],
};
const COMMAND_PLACE = 'POST /threads/{thread_id}/commands';
const METHODS = Object.keys(CONTRACT);
const SERVED_METHODS = METHODS.filter((name) => !CONTRACT[name].refused);

/** Every method of the newest clients with every parameter: what they send is served and documented, or listed. */
describe('the contract with the clients', () => {
  let gantry: Gantry;
  let receiver: Server;
  let devServer: DevServer;
  let openApi: OpenApiDocument;
  let ours: RecordingClient;
  let resources: Resources;
  let signatures: Map<string, Signature>;
  let python: PythonClients;
  /** Results of the JavaScript client against Gantry, to be compared with those of the dev server. */
  const recorded = new Map<string, Recorded[]>();
  const served: Served = { javascript: new Map(), python: new Map() };

  beforeAll(async () => {
    signatures = clientSignatures();
    receiver = createServer((_, response) => response.end('{}'));
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    gantry = await startGantry({
      graphProcesses: 1,
      graphs: SHAPE_GRAPHS,
      env: { GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
    });
    openApi = await OpenApiDocument.of(gantry.url);
    ours = new RecordingClient(gantry.url);
    resources = await prepareResources(ours.client, webhook());
  });

  afterAll(async () => {
    python?.stop();
    await devServer?.stop();
    await gantry?.stop();
    await new Promise((resolve) => receiver?.close(resolve));
  });

  const webhook = (): string => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

  describe('in JavaScript', () => {
    it('includes every method, and every parameter of each', () => {
      expect([...signatures.keys()].sort()).toEqual(['threads.stream', ...METHODS].sort());
      const stream = ours.client.threads.stream({ assistantId: 'three' });
      for (const [part, methods] of Object.entries(COMMANDS)) {
        expect([part, Object.keys(stream[part as 'run'])]).toEqual([part, methods]);
        for (const method of methods) {
          note(served.javascript, `threads.stream().${part}.${method}`, COMMAND_PLACE);
        }
      }
    });

    it.each(METHODS)('%s', async (name) => {
      const { names } = signatures.get(name)!;
      const calls = await callAll(name, ours, resources);
      recorded.set(name, calls);
      const used = new Set([...calls.flatMap(({ values }) => Object.keys(values)), ...(NOT_SENT[name] ?? [])]);
      expect([...used].sort()).toEqual([...names].sort());
      // The client sends the options of a batch's runs under their JavaScript names.
      const toName = name === 'runs.createBatch' ? snakeCase : undefined;
      for (const { sent, failure } of calls) {
        check(name, sent, failure, toName);
        for (const { method, url } of sent) note(served.javascript, name, `${method} ${openApi.template(url)}`);
      }
    });
  });

  describe.each(PYTHON_CLIENTS)('in Python, with the %s client', (client) => {
    beforeAll(async () => {
      python ??= await PythonClients.start(gantry.url);
      resources = await prepareResources(ours.client, webhook());
    });

    it('includes every method', () => {
      const known = SERVED_METHODS.map(snakeCase);
      expect(Object.keys(python.methods[client]).sort()).toEqual(['threads.stream', ...known].sort());
    });

    it.each(SERVED_METHODS)('%s', async (name) => {
      const method = snakeCase(name);
      const parameters = python.methods[client][method].filter((each) => !CALLBACKS.has(each));
      const given = pythonCalls(method, parameters, await callsOf(name, ours, resources));
      const used = new Set([...given.flatMap((each) => Object.keys(each)), ...Object.keys(COMMON)]);
      expect({ used: [...used].sort(), extra: unknownExtras(method, parameters) }).toEqual({
        used: [...parameters].sort(),
        extra: [],
      });
      for (const values of given) {
        const args = { ...values, ...COMMON };
        const { sent, failure } = await python.call({ client, method, args, events: CONTRACT[name].events });
        const requests = sent.map((request) => ({ ...request, url: new URL(request.url) }));
        check(name, requests, failure);
        for (const { method: verb, url, headers } of requests) {
          expect(headers).toEqual(COMMON.headers);
          note(served.python, method, `${verb} ${openApi.template(url)}`);
        }
      }
    });

    it('the commands of a thread’s stream', async () => {
      const { stream, ...orders } = STREAM_ORDERS;
      const commands = python.commands[client];
      expect(Object.keys(commands).sort()).toEqual(Object.keys(orders).sort());
      for (const [name, parameters] of Object.entries(commands)) {
        const given = Object.keys(orders[name as 'run.start']);
        expect([name, given.sort()]).toEqual([name, parameters.filter((each) => each !== 'interrupt_id').sort()]);
      }
      const own = python.methods[client]['threads.stream'].filter((each) => !['thread_id', 'transport'].includes(each));
      expect(Object.keys(stream).sort()).toEqual(own.sort());
      for (const transport of ['sse', 'websocket']) {
        const args = { ...STREAM_ORDERS, stream: { ...stream, transport, thread_id: await resources.newThread() } };
        const { sent, failure } = await python.call({ client, method: 'threads.stream', args });
        const refused = sent.filter(({ status }) => status >= 400);
        expect({ failure, refused }).toEqual({ failure: null, refused: [] });
      }
      for (const name of Object.keys(commands)) {
        const place = name.startsWith('agent.') ? 'GET /assistants/{assistant_id}/graph' : COMMAND_PLACE;
        note(served.python, `threads.stream().${name}`, place);
      }
    });
  });

  describe('beside the JavaScript dev server', () => {
    let theirs: RecordingClient;
    let other: Resources;
    const seen = new Set<string>();
    const known = KNOWN_DIFFERENCES.flatMap(({ differences: patterns }) => patterns);

    beforeAll(async () => {
      devServer = await startDevServer({ GANTRY_TEST_LEDGER_URL: gantry.database.url });
      theirs = new RecordingClient(devServer.url);
      // The dev server has no crons.
      const newCron = (): Promise<string> => Promise.resolve(randomUUID());
      other = { ...(await prepareResources(theirs.client, webhook())), newCron };
    });

    it.each(METHODS)(
      '%s',
      async (name) => {
        const calls = await callAll(name, theirs, other);
        const lines = differences(name, recorded.get(name)!, calls, openApi);
        for (const line of lines) seen.add(line);
        expect(lines.filter((line) => !known.some((pattern) => matches(pattern, line)))).toEqual([]);
      },
      SCHEMAS_MS + 20_000,
    );

    it('differs only in what is listed', () => {
      expect(known.filter((pattern) => ![...seen].some((line) => matches(pattern, line)))).toEqual([]);
    });
  });

  it('is listed in docs/compatibility.md', () => checkPage(served));

  async function callsOf(
    name: string,
    { client }: RecordingClient,
    own: Resources,
  ): Promise<Record<string, unknown>[]> {
    return CONTRACT[name].calls(startsRuns(name) ? await withQuestion(client, own) : own);
  }

  /** Calls a method by each set of values, one after the other. */
  async function callAll(name: string, recording: RecordingClient, own: Resources): Promise<Recorded[]> {
    const calls: Recorded[] = [];
    for (const values of await callsOf(name, recording, own)) {
      if (startsRuns(name)) await untilIdle(recording.client, own);
      calls.push(await recording.call(name, signatures.get(name)!, values));
    }
    return calls;
  }

  function check(
    name: string,
    sent: (SentRequest & { status: number; error?: string })[],
    failure: string | null | undefined,
    toName?: (key: string) => string,
  ): void {
    const { refused } = CONTRACT[name];
    expect({ sent: sent.length > 0, failure }).toMatchObject({ sent: true });
    for (const request of sent) {
      const { status, error = '' } = request;
      if (refused) {
        expect(status).toBe(refused.status);
        continue;
      }
      expect({ failure: failure ?? undefined, status: Math.floor(status / 100), error }).toEqual({
        failure: undefined,
        status: 2,
        error: '',
      });
      const path = openApi.template(request.url);
      expect({ path, undocumented: openApi.undocumented(request, toName) }).toEqual({ path, undocumented: [] });
    }
  }
});

/** Whether calls of a method start runs or resume interrupts, so that they depend on the runs of earlier calls. */
function startsRuns(name: string): boolean {
  return name.startsWith('runs.');
}

function note(served: Map<string, Set<string>>, name: string, place: string): void {
  served.set(name, (served.get(name) ?? new Set()).add(place));
}
