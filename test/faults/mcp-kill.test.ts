import { Gantry, startGantry } from '../support/gantry';
import { connectMcp, ERAS } from '../support/mcp';
import { waitFor } from '../support/wait-for';

const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);

/** A tool call is a durable run: who dies on the way only delays the result. */
describe.each(ERAS)('SIGKILL of the worker during an MCP call of %s', (era) => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ env: { GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '2' } });
  }, 180_000);

  afterAll(() => gantry?.stop());

  it('is not seen by the caller, who gets the whole result', async () => {
    const client = await connectMcp(gantry.url, { era });
    const told: (string | undefined)[] = [];
    const call = client.callTool(
      { name: 'ten', arguments: { step_ms: 250 } },
      { onprogress: ({ message }) => told.push(message), timeout: 90_000 },
    );
    await waitFor('four nodes', () => told.length >= 4);
    await gantry.killWorker('SIGKILL');
    await gantry.startWorker();
    expect((await call).structuredContent).toMatchObject({ done: NODES });
    expect([...new Set(told)]).toEqual(NODES);
    const { rows } = await gantry.sql.query<{ run_id: string; attempt: number }>('SELECT run_id, attempt FROM runs');
    expect(rows).toMatchObject([{ attempt: 2 }]);
    const executions = await gantry.ledger.of(rows[0].run_id);
    expect(new Set(executions.map(({ key }) => key)).size).toBe(NODES.length);
    await client.close();
  }, 120_000);
});
