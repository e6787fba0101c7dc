import type { Progress } from '@modelcontextprotocol/client';
import { Gantry, startGantry } from '../support/gantry';
import { connectMcp, type Era, ERAS } from '../support/mcp';
import { waitFor } from '../support/wait-for';

const NODES = Array.from({ length: 10 }, (_, index) => `node_${index + 1}`);

/** The stream of a call can be taken up again where the revision has a way to ask for it. */
const DYING: Record<Era, ('worker' | 'api')[]> = { '2025-11-25': ['worker', 'api'], '2026-07-28': ['worker'] };

/** A tool call is a durable run: who dies on the way only delays the result. */
describe.each(ERAS)('SIGKILL during an MCP call of %s', (era) => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ env: { GANTRY_HEARTBEAT_TIMEOUT_SECONDS: '2' } });
  }, 180_000);

  afterAll(() => gantry?.stop());

  it.each(DYING[era])(
    'of the %s is not seen by the caller, who gets the whole result',
    async (dying) => {
      const client = await connectMcp(gantry.url, { era });
      const told: Progress[] = [];
      const call = client.callTool(
        { name: 'ten', arguments: { step_ms: 500 } },
        { onprogress: (progress) => told.push(progress), timeout: 90_000 },
      );
      await waitFor('four nodes', () => told.length >= 4);
      if (dying === 'worker') {
        await gantry.killWorker('SIGKILL');
        await gantry.startWorker();
      } else {
        await gantry.killApi('SIGKILL');
        await gantry.startApi();
      }
      expect((await call).structuredContent).toMatchObject({ done: NODES });
      const nodes = told.map(({ message }) => message);
      expect(dying === 'worker' ? [...new Set(nodes)] : nodes).toEqual(NODES);
      const counts = told.map(({ progress }) => progress);
      expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
      const { rows } = await gantry.sql.query<{ run_id: string; attempt: number }>(
        'SELECT run_id, attempt FROM runs ORDER BY created_at DESC LIMIT 1',
      );
      expect(rows).toMatchObject([{ attempt: dying === 'worker' ? 2 : 1 }]);
      const executions = await gantry.ledger.of(rows[0].run_id);
      expect(new Set(executions.map(({ key }) => key)).size).toBe(NODES.length);
      await client.close();
    },
    120_000,
  );
});
