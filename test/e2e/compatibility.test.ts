import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from '@langchain/langgraph-sdk';
import { version } from '@langchain/langgraph-sdk/package.json';
import { CONTRACT, methodOf, NOT_SENT, type Resources } from '../support/client-contract';
import { clientSignatures, type Signature } from '../support/client-signatures';
import { Gantry, SHAPE_GRAPHS, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

const PAGE = join(__dirname, '..', '..', 'docs', 'compatibility.md');
/** The commands of a thread's stream, which are tried one by one with the event protocol. */
const COMMANDS = {
  run: ['start'],
  input: ['respond', 'inject'],
  state: ['get', 'listCheckpoints', 'fork'],
  agent: ['getTree'],
};

interface Operation {
  parameters?: { in: string; name: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
interface Schema {
  $ref?: string;
  type?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}
interface Sent {
  method: string;
  url: URL;
  body: unknown;
  status: number;
  answer: string;
}

/** Every method of the newest JavaScript client with every parameter: what it sends is served and documented, or listed. */
describe('the contract with the JavaScript client', () => {
  let gantry: Gantry;
  let client: Client;
  let receiver: Server;
  let document: Document;
  let resources: Resources;
  let signatures: Map<string, Signature>;
  let sent: Sent[] = [];
  /** By method: where it went. */
  const endpoints = new Map<string, Set<string>>();

  beforeAll(async () => {
    signatures = clientSignatures();
    receiver = createServer((_, response) => response.end('{}'));
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    gantry = await startGantry({ graphs: SHAPE_GRAPHS, env: { GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' } });
    document = (await (await fetch(`${gantry.url}/openapi.json`)).json()) as Document;
    client = new Client({ apiUrl: gantry.url, apiKey: null, callerOptions: { maxRetries: 0, fetch: recorded } });
    resources = await prepare();
  }, 120_000);

  afterAll(async () => {
    await gantry?.stop();
    await new Promise((resolve) => receiver?.close(resolve));
  });

  const recorded = async (target: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await fetch(target, init);
    const request = {
      method: init?.method ?? 'GET',
      url: new URL(target instanceof Request ? target.url : target),
      status: response.status,
    };
    const answer = response.ok ? '' : await response.clone().text();
    sent.push({ ...request, body: init?.body ? (JSON.parse(init.body as string) as unknown) : undefined, answer });
    return response;
  };

  async function prepare(): Promise<Resources> {
    const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
    const [threadId, askedThreadId] = [await newThread(), await newThread()];
    const { run_id: runId } = await client.runs.create(threadId, 'three', { input: {} });
    await client.runs.join(threadId, runId);
    const { checkpoint } = await client.threads.getState(threadId);
    const asked = (await client.runs.wait(askedThreadId, 'ask', { input: {} })) as { __interrupt__: { id: string }[] };
    const { port } = receiver.address() as AddressInfo;
    return {
      ...{ threadId, askedThreadId, runId, newThread, interruptId: asked.__interrupt__[0].id },
      ...{ assistantId: (await client.assistants.create({ graphId: 'three' })).assistant_id },
      ...{ checkpointId: checkpoint.checkpoint_id!, webhook: `http://127.0.0.1:${port}/hook` },
      newRun: async () => {
        const thread = await newThread();
        const { run_id } = await client.runs.create(thread, 'sleep', { input: { sleep_ms: 60_000 } });
        return { threadId: thread, runId: run_id };
      },
      newCron: async () => (await client.crons.create('three', { schedule: '0 0 1 1 *' })).cron_id,
    };
  }

  it('knows every method, and every parameter of each', () => {
    const known = ['threads.stream', ...Object.keys(CONTRACT)];
    expect([...signatures.keys()].sort()).toEqual(known.sort());
    const stream = client.threads.stream({ assistantId: 'three' });
    for (const [part, methods] of Object.entries(COMMANDS)) {
      expect([part, Object.keys(stream[part as 'run'])]).toEqual([part, methods]);
    }
  });

  it.each(Object.keys(CONTRACT))('%s', async (name) => {
    const { calls, refused, events } = CONTRACT[name];
    const { parameters, names } = signatures.get(name)!;
    // An answer is given once: each method that takes it has a question of its own.
    const { askedThreadId, interruptId } = name.startsWith('runs.') ? await askAgain() : resources;
    const given = await calls({ ...resources, askedThreadId, interruptId });
    const used = new Set([...given.flatMap((each) => Object.keys(each)), ...(NOT_SENT[name] ?? [])]);
    expect([...used].sort()).toEqual([...names].sort());

    for (const values of given) {
      const ownNames = new Set(parameters.filter(({ kind }) => kind === 'value').map((each) => each.name));
      const options = Object.fromEntries(Object.entries(values).filter(([key]) => !ownNames.has(key)));
      const args = parameters.map(({ name: parameter, kind }) =>
        kind === 'value' ? values[parameter] : kind === 'options' ? options : [options],
      );
      sent = [];
      const failure = await finish(methodOf(client, name)(...args), events).then(() => undefined, String);
      expect(sent.length).toBeGreaterThan(0);
      const places = endpoints.get(name) ?? new Set();
      endpoints.set(name, places);
      for (const request of sent) {
        const { method, url, status, answer } = request;
        if (refused) {
          expect({ method, path: url.pathname, status, answer: '' }).toMatchObject({ status: refused.status });
          places.add(`${method} ${template(url.pathname)}`);
          continue;
        }
        expect({ failure, status: Math.floor(status / 100), answer }).toEqual({
          failure: undefined,
          status: 2,
          answer: '',
        });
        const [path, operation] = find(request);
        places.add(`${method} ${path}`);
        // The client gives the runs of a batch the names that they have in JavaScript.
        const toName = name === 'runs.createBatch' ? snakeCase : (key: string) => key;
        expect({ path, undocumented: undocumented(request, operation, toName) }).toEqual({ path, undocumented: [] });
      }
    }
  });

  it('is listed in docs/compatibility.md', () => {
    const lines = [...endpoints].map(([name, places]) => {
      const { refused } = CONTRACT[name];
      const where = [...places].sort().map((place) => `\`${place}\``);
      return `| \`${name}\` | ${where.join(', ')} | ${refused ? `no: ${refused.why}` : 'yes'} |`;
    });
    const commands = Object.entries(COMMANDS).flatMap(([part, methods]) =>
      methods.map(
        (method) => `| \`threads.stream().${part}.${method}\` | \`POST /threads/{thread_id}/commands\` | yes |`,
      ),
    );
    const page = `# What the clients call

Every method of the JavaScript SDK ${version} with every parameter, as test/e2e/compatibility.test.ts calls it: where it goes, and
whether it is served. The test fails when a new version of the SDK has a method or a parameter that it doesn't know, when the server
doesn't take or document what the SDK sends, and when this page says something else. \`GANTRY_WRITE_DOCS=1\` has it write the page.

| method | endpoint | served |
| ------ | -------- | ------ |
${[...lines, ...commands].join('\n')}
`;
    if (process.env.GANTRY_WRITE_DOCS) writeFileSync(PAGE, page);
    const compact = (text: string): string => text.replace(/ *\| */g, '|').replace(/-{3,}/g, '---');
    expect(compact(existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '')).toBe(compact(page));
  });

  async function askAgain(): Promise<{ askedThreadId: string; interruptId: string }> {
    const askedThreadId = await resources.newThread();
    const asked = (await client.runs.wait(askedThreadId, 'ask', { input: {} })) as { __interrupt__: { id: string }[] };
    // Runs of the test before are out of the way.
    await waitFor('an idle thread', async () => (await client.threads.get(resources.threadId)).status === 'idle');
    return { askedThreadId, interruptId: asked.__interrupt__[0].id };
  }

  function find({ method, url }: Sent): [path: string, operation: Operation] {
    const path = template(url.pathname);
    const operation = document.paths[path]?.[method.toLowerCase()];
    if (!operation) throw new Error(`openapi.json has no ${method} ${path}`);
    return [path, operation];
  }

  /** The path of the OpenAPI document that a request went to, the one with the fewest variables. */
  function template(pathname: string): string {
    const parts = pathname.split('/');
    const fits = (path: string): boolean => {
      const own = path.split('/');
      return own.length === parts.length && own.every((part, index) => part.startsWith('{') || part === parts[index]);
    };
    const variables = (path: string): number => path.split('{').length;
    const [path = pathname] = Object.keys(document.paths)
      .filter(fits)
      .sort((one, other) => variables(one) - variables(other));
    return path;
  }

  function undocumented(
    { url, body }: Sent,
    { parameters = [], requestBody }: Operation,
    toName: (key: string) => string,
  ): string[] {
    const queries = parameters.filter((each) => each.in === 'query').map((each) => each.name);
    const schema = requestBody?.content['application/json']?.schema;
    const bodies = Array.isArray(body) ? body : body === undefined ? [] : [body];
    const keys = bodies.flatMap((each) => Object.keys(each as object).map(toName));
    const known = schema ? propertiesOf(schema) : [];
    return [
      ...[...url.searchParams.keys()].filter((key) => !queries.includes(key)).map((key) => `?${key}`),
      ...new Set(keys.filter((key) => !known.includes(key))),
    ];
  }

  function propertiesOf(schema: Schema): string[] {
    if (schema.$ref) return propertiesOf(document.components.schemas[schema.$ref.split('/').at(-1)!]);
    const parts = [
      ...(schema.anyOf ?? []),
      ...(schema.oneOf ?? []),
      ...(schema.allOf ?? []),
      ...(schema.items ? [schema.items] : []),
    ];
    return [...Object.keys(schema.properties ?? {}), ...parts.flatMap(propertiesOf)];
  }
});

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Reads a stream to its end, or as many events as are enough; anything else is awaited. */
async function finish(result: unknown, events = Infinity): Promise<void> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return void (await result);
  let count = 0;
  for await (const _event of result as AsyncIterable<unknown>) if ((count += 1) >= events) break;
}
