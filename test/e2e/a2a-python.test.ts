import { join } from 'node:path';
import { answerFrom, type RpcAnswer, type StreamItem, type Task, textOf } from '../support/a2a';
import { Gantry, startGantry } from '../support/gantry';
import { runPython } from '../support/python';

const SCRIPT = join(__dirname, '..', 'python', 'a2a_client.py');
const COUNTED = 'one two three four five six seven eight nine ten';

interface Report {
  card: { name: string; supportedInterfaces: { protocolVersion: string }[] };
  stream: StreamItem[];
  task: Task;
  unknown: string | null;
  sent: { task?: Task }[];
  asked: StreamItem[];
  answered: StreamItem[];
  rejoined: StreamItem[];
  read: Task;
  canceled: Task;
  anonymous: string | null;
  malformed: number[];
  batch: RpcAnswer[];
}

const lastState = (items: StreamItem[]): string | undefined => items.at(-1)?.statusUpdate?.status.state;

/** The official Python client against the served graphs: one script makes all calls, the tests check its results. */
describe('the Python client of A2A', () => {
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1 });
  });

  afterAll(() => gantry?.stop());

  describe.each([
    ['1.0', 'JSONRPC'],
    ['0.3', 'JSONRPC'],
    ['1.0', 'HTTP+JSON'],
  ])('with version %s over %s', (version, binding) => {
    let report: Report;

    beforeAll(async () => {
      report = JSON.parse(await runPython([SCRIPT, gantry.url, version, binding])) as Report;
    });

    it('reads the card', () => {
      expect(report.card).toMatchObject({ name: 'talk', supportedInterfaces: [{ protocolVersion: version }] });
      expect(report.anonymous).not.toBeNull();
    });

    it('streams an answer, and reads the same task afterwards', () => {
      expect(report.stream[0].task).toBeDefined();
      expect(answerFrom(report.stream)).toBe(COUNTED);
      expect(lastState(report.stream)).toBe('TASK_STATE_COMPLETED');
      expect(textOf(report.task.artifacts)).toBe(COUNTED);
      expect(report.unknown).toMatch(/TaskNotFound/);
    });

    it('sends without a stream and gets the finished task', () => {
      expect(report.sent).toHaveLength(1);
      expect(textOf(report.sent[0].task?.artifacts)).toBe(COUNTED);
    });

    it('receives a question, and continues with the answer', () => {
      expect(lastState(report.asked)).toBe('TASK_STATE_INPUT_REQUIRED');
      expect(answerFrom(report.answered)).toBe('Your refund is on its way.');
      expect(lastState(report.answered)).toBe('TASK_STATE_COMPLETED');
    });

    it('rejoins a task, and misses nothing', () => {
      expect(report.rejoined[0].task?.id).toBe(report.read.id);
      expect(answerFrom(report.rejoined)).toBe(textOf(report.read.artifacts));
      expect(textOf(report.read.artifacts)).toMatch(/ w59$/);
    });

    it('gets errors for malformed JSON-RPC, and an array for a batch', () => {
      expect(report.malformed).toEqual([-32_700, -32_600, -32_600, -32_601]);
      expect(report.batch).toMatchObject([{ result: { id: report.task.id } }, { error: { code: -32_001 } }]);
      expect(report.batch.map(({ id }) => id)[0]).toBe(report.task.id);
    });

    it('cancels a task', () => {
      expect(report.canceled.status.state).toBe('TASK_STATE_CANCELED');
    });
  });
});
