import { AgentCaller, answerFrom, type Task, textOf, toMessage } from '../support/a2a';
import { Gantry, startGantry } from '../support/gantry';

const WORDS = 120;
const WHOLE = Array.from({ length: WORDS }, (_, index) => `w${index}`).join(' ');

/** A task survives the death of any process, and its streams resume where they stopped. */
describe('SIGKILL during SendStreamingMessage', () => {
  let gantry: Gantry;
  let prose: AgentCaller;

  beforeAll(async () => {
    // Longer than a busy machine keeps a worker waiting: one case asserts that only the api's death is noticed.
    gantry = await startGantry({ sweepSeconds: 1, graphProcesses: 1 });
    prose = new AgentCaller(gantry.url, 'prose');
  });

  afterAll(() => gantry?.stop());

  const startStream = () =>
    prose.stream('SendStreamingMessage', toMessage([{ text: 'Tell' }, { data: { words: WORDS } }]));

  it('of the worker: the open stream continues, and a new subscriber gets the rest', async () => {
    const stream = await startStream();
    const { task } = await stream.until((item) => item.task !== undefined);
    await stream.until(({ artifactUpdate }) => artifactUpdate !== undefined);
    await gantry.killWorker('SIGKILL');
    const joined = await prose.stream('SubscribeToTask', { id: task!.id });
    const first = await joined.until((item) => item.task !== undefined);
    expect(first.task?.status.state).toBe('TASK_STATE_WORKING');
    expect(textOf(first.task?.artifacts)).toMatch(/^w/);
    await gantry.startWorker();
    const [open, subscribed] = await Promise.all([stream.rest(), joined.rest()]);
    for (const items of [open, subscribed]) {
      expect(items.at(-1)?.statusUpdate?.status.state).toBe('TASK_STATE_COMPLETED');
    }
    expect(answerFrom(stream.items)).toBe(WHOLE);
    expect(answerFrom(joined.items)).toBe(WHOLE);
    expect((await gantry.ledger.of(task!.id)).map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  it('of the api: the task exists after its restart, and so does its stream', async () => {
    const stream = await startStream();
    const { task } = await stream.until((item) => item.task !== undefined);
    await stream.until(({ artifactUpdate }) => artifactUpdate !== undefined);
    await gantry.killApi('SIGKILL');
    await expect(stream.rest()).rejects.toThrow();
    await gantry.startApi();
    expect((await prose.get(task!.id)).id).toBe(task!.id);
    const joined = await prose.stream('SubscribeToTask', { id: task!.id }).catch(() => undefined);
    await joined?.rest();
    const done = await prose.get(task!.id);
    expect([done.status.state, textOf(done.artifacts)]).toEqual(['TASK_STATE_COMPLETED', WHOLE]);
    expect((await gantry.ledger.of(task!.id)).map(({ attempt }) => attempt)).toEqual([1]);
  });

  it('of both, with a question open: the answer resumes the graph where it stopped', async () => {
    const desk = prose.of('desk');
    const asked: Task = await desk.say('Refund');
    await Promise.all([gantry.killApi('SIGKILL'), gantry.killWorker('SIGKILL')]);
    await Promise.all([gantry.startApi(), gantry.startWorker()]);
    expect(await desk.get(asked.id)).toEqual(asked);
    const done = await desk.say('yes', { taskId: asked.id });
    expect(textOf(done.artifacts)).toBe('Your refund is on its way.');
  });
});
