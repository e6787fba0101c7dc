import { join } from 'node:path';
import { Gantry, startGantry } from '../support/gantry';
import { runPython } from '../support/python';
import { waitFor } from '../support/wait-for';

const SCRIPT = join(__dirname, '..', 'python', 'mcp_client.py');

interface Report {
  tools: string[];
  called: { structured: object; text: object; is_error: boolean };
  progress: { progress: number; message: string }[];
  asked: string[];
  answered: object;
  failed: { is_error: boolean; text: string };
  unknown: number;
  malformed: [status: number, code: number][];
  batch: { status: number; lists: number };
}

/** The public Python client in both generations of the protocol: one script makes all calls, the tests check its results. */
describe('MCP with the public Python client', () => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1 });
  });

  afterAll(() => gantry?.stop());

  /** The status of each run of a call that a script cancels, the oldest first. */
  async function cancelledRuns(): Promise<string[]> {
    const { rows } = await gantry.sql.query<{ status: string }>(
      `SELECT status FROM runs WHERE kwargs->'input'->>'note' = 'cancelled' ORDER BY created_at`,
    );
    return rows.map(({ status }) => status);
  }

  describe.each(['legacy', '2026-07-28'])('of generation %s', (mode) => {
    let report: Report;
    /** Number of such runs from before this script. */
    let earlier: number;

    beforeAll(async () => {
      earlier = (await cancelledRuns()).length;
      report = JSON.parse(await runPython([SCRIPT, `${gantry.url}/mcp`, mode])) as Report;
    });

    it('lists the assistants', () => {
      expect(report.tools).toEqual(expect.arrayContaining(['ask', 'fail', 'sleep', 'talk', 'ten', 'three']));
    });

    it('calls one, and gets its output as JSON', () => {
      expect(report.called.is_error).toBe(false);
      expect(report.called.structured).toMatchObject({ note: 'it slept' });
      expect(report.called.text).toEqual(report.called.structured);
    });

    it('receives the progress', () => {
      expect(report.progress.map(({ message }) => message)).toEqual(['node_1', 'node_2', 'node_3']);
    });

    it('answers the question of the graph', () => {
      expect(report.asked).toEqual(['Shall I?']);
      expect(report.answered).toEqual({ question: 'Shall I?', answer: 'by all means' });
    });

    it('distinguishes errors of a tool from errors of the protocol', () => {
      expect(report.failed).toEqual({ is_error: true, text: 'TypeError: The printer is on fire' });
      expect(report.unknown).toBe(-32_602);
    });

    it('gets an error for malformed JSON-RPC, and for a batch in revisions without batches', () => {
      expect(report.malformed.map(([status]) => status)).toEqual([400, 400, 400, 400]);
      expect(report.malformed.map(([, code]) => code)).toEqual([-32_700, -32_600, -32_600, -32_600]);
      expect(report.batch).toEqual(mode === 'legacy' ? { status: 200, lists: 2 } : { status: 400, lists: 0 });
    });

    it('cancels a call', async () => {
      await waitFor('the end of the run', async () => {
        const statuses = (await cancelledRuns()).slice(earlier);
        return statuses.length > 0 && statuses.every((status) => status === 'interrupted');
      });
    });
  });
});
