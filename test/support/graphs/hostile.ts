import { createHash, randomBytes } from 'node:crypto';
import { existsSync, writeFileSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { serialize } from 'node:v8';
import type { LangGraphRunnableConfig } from '@langchain/langgraph';
import { END, START, StateGraph } from '@langchain/langgraph';
import { Client, DatabaseError } from 'pg';
import { z } from 'zod';

interface Access {
  tenantId: string;
  token: string;
}

interface Login {
  host: string;
  port: number;
  database: string;
  user: string;
  password: string;
}

interface Statement {
  text?: string;
  values?: unknown[];
}

/** Secrets that passed through the process: its login to the database, and the token of each run. */
const seen: { login?: Login; accesses: Access[] } = { accesses: [] };

/** Intercepts the queries of the process, which run in the memory that this module shares. */
const original = Reflect.get(Client.prototype, 'query') as (...args: unknown[]) => unknown;
Client.prototype.query = function (this: Client, ...args: unknown[]) {
  const [{ text = '', ...query } = {}, values = query.values] = args as [Statement?, unknown[]?];
  const { host, port, database = '', user = '', password } = this;
  if (text.includes('gantry.tenant_token')) {
    seen.login = { host, port, database, user, password: password! };
    // The last parameters of each statement that sets them.
    const [tenantId, token] = values!.slice(-2) as [string, string];
    if (!seen.accesses.some((access) => access.token === token)) seen.accesses.push({ tenantId, token });
  }
  return original.apply(this, args);
} as typeof Client.prototype.query;

/** Counts of the rows that a separate connection with these settings reads and writes, or the error. */
async function tryAs(
  connection: Client,
  victim: string,
  { tenantId, token }: Access,
): Promise<Record<string, unknown>> {
  const asked = async (statement: string, values: unknown[]): Promise<unknown> => {
    try {
      return (await connection.query(statement, values)).rowCount;
    } catch (error) {
      return error instanceof DatabaseError ? error.code : String(error);
    }
  };
  await connection.query(
    `SELECT set_config('gantry.tenant_id', $1, false), set_config('gantry.tenant_token', $2, false)`,
    [...[tenantId, token]],
  );
  const insert = `INSERT INTO langgraph.checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint) VALUES ($1, '', 'x', '{}')`;
  const columns = [...Array<string>(13).fill('{}'), '{""}', '{y}', '{NULL}', '{"{}"}', '{"{}"}'];
  const store = `SELECT store_checkpoints(NULL, NULL, $1, false, ${columns.map((each) => `'${each}'`).join(', ')})`;
  return {
    states: await asked(`SELECT FROM langgraph.checkpoints WHERE thread_id LIKE $1`, [`${victim}/%`]),
    items: await asked(`SELECT FROM langgraph.store WHERE namespace_path LIKE $1`, [`${victim}%`]),
    written: await asked(insert, [`${victim}/planted`]),
    stored: await asked(store, [`${victim}/planted`]),
    changed: await asked(`UPDATE langgraph.store SET value = '{"planted":1}' WHERE namespace_path LIKE $1`, [
      `${victim}%`,
    ]),
  };
}

/** Signed like Gantry's tokens, with a key of its own. */
function forged(message: string, [inner, outer]: Buffer[]): string {
  const digest = createHash('sha256').update(inner).update(message).digest();
  return `${message}/${createHash('sha256').update(outer).update(digest).digest('hex')}`;
}

const Hostile = z.object({
  victim: z.string().default(''),
  tries: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
});

/** Tries to reach another tenant's states and items with everything that it finds in its process. */
export const hostile = new StateGraph(Hostile)
  .addNode('reach', async ({ victim }) => {
    const own = seen.accesses.at(-1)!;
    const [, run, attempt, signature] = own.token.split('/');
    const keys = [randomBytes(64), randomBytes(64)];
    const connection = new Client(seen.login);
    await connection.connect();
    try {
      await connection.query(
        `CREATE TEMP TABLE tenant_token_key (is_only boolean, inner_key bytea, outer_key bytea, graphs_role name)`,
      );
      await connection.query(`INSERT INTO tenant_token_key VALUES (true, $1, $2, 'nobody')`, keys);
      await connection.query(
        `CREATE TEMP TABLE runs AS SELECT '${run}'::uuid AS run_id, '${victim}'::uuid AS tenant_id, ${attempt} AS attempt, 'running' AS status`,
      );
      const accesses: Record<string, Access> = {
        'the setting alone': { tenantId: victim, token: '' },
        'its own token': { tenantId: victim, token: own.token },
        'its own token for the victim': { tenantId: victim, token: `${victim}/${run}/${attempt}/${signature}` },
        'its own token without a run': { tenantId: victim, token: `${victim}//9999999999/${signature}` },
        'a signature of its own': { tenantId: victim, token: forged(`${victim}/${run}/${attempt}`, keys) },
        'a token that has no signature': { tenantId: victim, token: `${victim}//9999999999` },
        "the token of a victim's run that has ended": seen.accesses.find(({ tenantId }) => tenantId === victim)!,
      };
      const tries: Record<string, Record<string, unknown>> = {};
      for (const [name, access] of Object.entries(accesses)) tries[name] = await tryAs(connection, victim, access);
      // Shows that these statements find what exists.
      tries['its own tenant'] = await tryAs(connection, own.tenantId, own);
      return { tries };
    } finally {
      await connection.end();
    }
  })
  .addEdge(START, 'reach')
  .addEdge('reach', END)
  .compile();

const Victim = z.object({ secret: z.string().default('') });

/** Stores a state, and an item in the store. */
export const victim = new StateGraph(Victim)
  .addNode('keep', async ({ secret }, { store }) => {
    await store!.put(['secrets'], 'one', { secret });
    return { secret };
  })
  .addEdge(START, 'keep')
  .addEdge('keep', END)
  .compile();

/** Descriptor of the channel of a graph process. */
const MESSAGES = 3;
/** More than GANTRY_GRAPH_VALUE_LIMIT_BYTES of the test. */
const LARGE = 'x'.repeat(17 * 1024 * 1024);
const DATA = JSON.stringify('x'.repeat(8_000));

/** Writes a message to the channel as fast as it is taken; ends the process where it isn't, once there is the file. */
const send = (message: object, until: string): void => sendBytes(serialize(message), until);

function sendBytes(body: Buffer, until: string): void {
  const header = Buffer.from('GNTR\0\0\0\0');
  header.writeUInt32BE(body.length, 4);
  const bytes = Buffer.concat([header, body]);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(MESSAGES, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      // The worker takes no more from a process that reads no answer, as this one: a message stays half written.
      if (existsSync(until)) process.exit();
    }
  }
}

/** A list of empty objects as `v8.serialize` writes it. */
function manyObjects(count: number): Buffer {
  const length: number[] = [];
  for (let left = count; left > 0; left >>>= 7) length.push((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
  const [begin, end] = [Buffer.from([0xff, 0x0f, 0x41, ...length]), Buffer.from([0x24, 0x00, ...length])];
  return Buffer.concat([begin, Buffer.alloc(count * 3, 'o{\0'), end]);
}

const Flooding = z.object({
  /** A file that ends the flood; the one beside it, `.begun`, is made when the flood begins. */
  until: z.string().default(''),
  kind: z.enum(['events', 'small', 'writer', 'objects', 'event', 'state']).default('events'),
  data: z.string().default(''),
});

const FLOODS: Record<string, (config: LangGraphRunnableConfig, until: string) => void> = {
  // One of these ids is that of its run.
  events: (_config, until) => {
    for (let id = 1; id < 8; id += 1) send({ type: 'events', id, events: [{ event: 'custom', data: DATA }] }, until);
  },
  // Answers as if the event loop were free.
  small: (_config, until) => {
    for (let id = 1; id < 1_000; id += 1)
      send(id % 2 ? { type: 'pulse', residentMb: 1, busyShare: 0 } : { type: 'result', id, value: '' }, until);
  },
  writer: ({ writer }) => writer?.(DATA),
  // A few megabytes that would be hundreds as objects.
  objects: (_config, until) => sendBytes(manyObjects(5_000_000), until),
  event: ({ writer }) => writer?.(LARGE),
};

/** Floods the channel of its process, without ever letting its event loop go. */
export const flood = new StateGraph(Flooding)
  .addNode('flood', ({ until, kind }, config) => {
    if (kind === 'state') return { data: LARGE };
    const most = { writer: 10_000, event: 1 }[kind as string] ?? Infinity;
    if (until) writeFileSync(`${until}.begun`, '');
    for (let count = 0; count < most && !existsSync(until); count += 1) FLOODS[kind](config, until);
    return {};
  })
  .addEdge(START, 'flood')
  .addEdge('flood', END)
  .compile();

const remembered: string[] = [];
const Remembering = z.object({
  secret: z.string().default(''),
  pid: z.number().optional(),
  remembered: z.array(z.string()).default([]),
});

/** Keeps the input of each run in its module's memory, and returns all of it. */
export const remember = new StateGraph(Remembering)
  .addNode('remember', ({ secret }) => {
    remembered.push(secret);
    return { pid: process.pid, remembered: [...remembered] };
  })
  .addEdge(START, 'remember')
  .addEdge('remember', END)
  .compile();

/** Occupies its process until a file exists. */
export const hold = new StateGraph(Remembering.extend({ until: z.string().default('') }))
  .addNode('begin', () => ({ pid: process.pid }))
  .addNode('hold', async ({ until }) => {
    while (!existsSync(until)) await sleep(20);
    return {};
  })
  .addEdge(START, 'begin')
  .addEdge('begin', 'hold')
  .addEdge('hold', END)
  .compile();
