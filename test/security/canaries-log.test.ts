import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { createLogger, NestLogger } from '../../src/http/logging';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { freePort } from '../support/ports';
import { waitFor } from '../support/wait-for';

const CANARY = 'canary-4711';
const TABLE = 'CREATE TABLE secrets (id text PRIMARY KEY, size int CHECK (size < 5), state jsonb, key uuid)';
/** Statements that Postgres refuses, with its messages and details repeating what they were given. */
const REFUSED: [name: string, sql: string, parameters: unknown[]][] = [
  ['a key that is there', 'INSERT INTO secrets (id) VALUES ($1)', [CANARY]],
  ['a row that breaks a rule', 'INSERT INTO secrets (id, size) VALUES ($1, 9)', [`${CANARY}-2`]],
  ['what is no UUID', 'SELECT * FROM secrets WHERE key = $1', [CANARY]],
  ['what is no number', 'SELECT * FROM secrets WHERE size = $1', [CANARY]],
  ['what is no JSON', 'INSERT INTO secrets (id, state) VALUES ($1, $2)', ['x', `{"token": ${CANARY}}`]],
  ['a character that jsonb does not hold', 'INSERT INTO secrets VALUES ($1, 1, $2)', ['y', `{"a":"${CANARY}\\u0000"}`]],
  ['an unknown table', 'SELECT $1::text FROM nowhere', [CANARY]],
];

describe('errors of the database in the log', () => {
  let database: TestDatabase;
  let source: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    source = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    await source.query(TABLE);
    await source.query('INSERT INTO secrets (id) VALUES ($1)', [CANARY]);
  });

  afterAll(async () => {
    await source?.destroy();
    await database?.drop();
  });

  const failureOf = (sql: string, parameters: unknown[]): Promise<Error> =>
    source.query(sql, parameters).then(
      () => Promise.reject(new Error('It was not refused')),
      (error: Error) => error,
    );

  it.each(REFUSED)('report what happened, without the values: %s', async (_, sql, parameters) => {
    const error = await failureOf(sql, parameters);
    const { driverError } = error as unknown as { driverError: Error & { code: string } };
    const lines: string[] = [];
    const logger = createLogger('api', 'trace', { write: (line) => void lines.push(line) });
    const nest = new NestLogger(logger);
    const wrapped = new Error('It failed', { cause: error });
    const several = new AggregateError([error, driverError, wrapped], 'Several failed');
    for (const each of [error, driverError, wrapped, several]) {
      logger.error(each, 'directly');
      logger.error({ err: each }, 'as err');
      logger.error({ error: each }, 'as error');
      logger.error({ cause: each, reason: each }, 'as a cause');
      logger.child({ job: 1 }).warn({ err: each }, 'by a child');
      nest.error({ err: each }, 'by Nest', 'Context');
      nest.error(each, 'Context');
    }
    const text = lines.join('');
    expect(lines).toHaveLength(28);
    expect(text).not.toContain(CANARY);
    expect(text).not.toContain('parameters');
    const { err } = JSON.parse(lines[0]) as { err: Record<string, string> };
    expect(Object.keys(err).sort()).toEqual(['code', 'message', 'name', 'stack']);
    expect(err).toMatchObject({ name: 'QueryFailedError', code: driverError.code });
    expect(err.stack).toMatch(/^QueryFailedError: .+\n\s+at /);
  });

  it('include a chain of causes that has no end', () => {
    const lines: string[] = [];
    const logger = createLogger('api', 'info', { write: (line) => void lines.push(line) });
    const error = new Error('round');
    error.cause = error;
    logger.error({ err: error }, 'round and round');
    expect(JSON.parse(lines[0])).toMatchObject({ err: { message: 'round', cause: { message: 'round' } } });
  });
});

it('the Postgres server of npm start logs no values', async () => {
  const home = mkdtempSync(join(tmpdir(), 'gantry-postgres-'));
  // The server may run as another user than this process.
  chmodSync(home, 0o755);
  const [part, port] = [join(__dirname, '..', 'support', 'postgres-part.mjs'), await freePort()];
  const printed = execFileSync(process.execPath, [part, home, String(port), 'password'], { encoding: 'utf8' });
  const { command, args, url, ...options } = JSON.parse(printed.slice(printed.lastIndexOf('\n'))) as {
    command: string;
    args: string[];
    url: string;
  };
  const server = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (text: Buffer) => (log += text.toString()));
  const at = new URL(url);
  at.pathname = '/postgres';
  let client: Client | undefined;
  try {
    client = await waitFor('the server', async () => {
      const fresh = new Client({ connectionString: at.href });
      fresh.on('error', () => undefined);
      return fresh.connect().then(
        () => fresh,
        () => false as const,
      );
    });
    await client.query(TABLE);
    await client.query('INSERT INTO secrets (id) VALUES ($1)', [CANARY]);
    // Errors that repeat a value in their message can only be kept out of the server's log together with the message.
    const refused = REFUSED.filter(([, sql]) => !sql.includes('WHERE'));
    for (const [, sql, parameters] of refused) await expect(client.query(sql, parameters)).rejects.toThrow();
    await waitFor('the log', () => log.split('ERROR:').length > refused.length);
    expect(log).not.toContain(CANARY);
  } finally {
    await client?.end();
    server.kill('SIGQUIT');
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    rmSync(home, { recursive: true, force: true });
  }
});
