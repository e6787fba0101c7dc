import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { loadConfig } from '../../src/config/config';
import { TemporalClient } from '../../src/temporal/temporal-client';
import {
  cronIdAttribute,
  runIdAttribute,
  SEARCH_ATTRIBUTES,
  tenantIdAttribute,
} from '../../workflows/contracts/search-attributes';
import { temporal } from '@temporalio/proto';
import { TypedSearchAttributes } from '@temporalio/common';
import { freePort } from '../support/ports';
import { waitFor } from '../support/wait-for';

const SERVER = join(__dirname, '..', 'support', 'temporal-server.mjs');
const { INDEXED_VALUE_TYPE_KEYWORD } = temporal.api.enums.v1.IndexedValueType;

it('the Temporal server of npm start lists workflows with few indexes, by search attributes as well', async () => {
  const home = mkdtempSync(join(tmpdir(), 'gantry-temporal-'));
  const port = await freePort();
  const server = fork(SERVER, [home, String(port)]);
  try {
    await once(server, 'message');
    const connection = await Connection.connect({ address: `127.0.0.1:${port}` });
    try {
      const registered = SEARCH_ATTRIBUTES.filter((each) => each !== cronIdAttribute);
      await connection.operatorService.addSearchAttributes({
        namespace: 'default',
        searchAttributes: Object.fromEntries(registered.map(({ name }) => [name, INDEXED_VALUE_TYPE_KEYWORD])),
      });
      const client = new Client({ connection });
      await waitFor('the search attributes', () =>
        client.workflow
          .start('any', {
            taskQueue: 'none',
            workflowId: 'one',
            typedSearchAttributes: new TypedSearchAttributes([{ key: runIdAttribute, value: 'the-run' }]),
          })
          .catch(() => undefined),
      );
      const found = await waitFor('the workflow', async () => {
        for await (const each of client.workflow.list({ query: `${runIdAttribute.name} = 'the-run'` })) return each;
      });
      expect(found.workflowId).toBe('one');
      for await (const each of client.workflow.list({ query: `${runIdAttribute.name} = 'another'` })) {
        throw new Error(`${each.workflowId} has another attribute`);
      }
      await leavesOutOnlyWhatIsMissing(port, client);
    } finally {
      await connection.close();
    }
    const database = new DatabaseSync(join(home, 'temporal', 'temporal.db'), { readOnly: true });
    const indexes = database
      .prepare(
        `SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'executions_visibility' AND sql IS NOT NULL`,
      )
      .all();
    database.close();
    expect(indexes).toHaveLength(6);
  } finally {
    if (server.connected) server.disconnect();
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
    rmSync(home, { recursive: true, force: true });
  }
});

/** With an account that may not register attributes, workflows start without those that are missing, and only these. */
async function leavesOutOnlyWhatIsMissing(port: number, client: Client): Promise<void> {
  const lazy = jest.spyOn(Connection, 'lazy');
  const own = new TemporalClient(
    loadConfig({
      DATABASE_URL: 'postgres://localhost/gantry',
      TEMPORAL_ADDRESS: `127.0.0.1:${port}`,
      GANTRY_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    }),
  );
  try {
    const connection = lazy.mock.results[0].value as Connection;
    jest.spyOn(connection.operatorService, 'addSearchAttributes').mockRejectedValue(new Error('denied'));
    const start = (workflowId: string, key: typeof runIdAttribute) =>
      own.startOnce('any', {
        workflowId,
        taskQueue: 'none',
        args: [],
        typedSearchAttributes: new TypedSearchAttributes([
          { key, value: 'own' },
          { key: tenantIdAttribute, value: 'tenant' },
        ]),
      });
    expect(await start('of-a-cron', cronIdAttribute)).toBe(true);
    expect(await start('of-a-run', runIdAttribute)).toBe(true);
    const attributesOf = async (workflowId: string) =>
      (await client.workflow.getHandle(workflowId).describe()).typedSearchAttributes
        .getAll()
        .map(({ key, value }) => [key.name, value]);
    expect(await attributesOf('of-a-cron')).toEqual([[tenantIdAttribute.name, 'tenant']]);
    expect((await attributesOf('of-a-run')).sort()).toEqual([
      [runIdAttribute.name, 'own'],
      [tenantIdAttribute.name, 'tenant'],
    ]);
  } finally {
    await own.onModuleDestroy();
  }
}
