import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type ThreadState } from '@langchain/langgraph-sdk';
import { type Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

type Values = Record<string, unknown>;

/** An api keeps the states that it has read, for as long as they are those of their threads. */
describe('the state of a thread, read from one api and changed through another', () => {
  let gantry: Gantry;
  let reader: Client;
  let writer: Client;
  let folder: string;
  let file: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-states-'));
    file = join(folder, 'switch');
    gantry = await startGantry({
      graphs: join(__dirname, '../support/graphs/states.json'),
      env: { GANTRY_TEST_SWITCH: file },
      graphProcesses: 1,
    });
    reader = gantry.client();
    writer = new Client({ apiUrl: await gantry.startReplica(), apiKey: null });
  });

  afterAll(async () => {
    await gantry?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function run(graph: string): Promise<string> {
    const { thread_id } = await writer.threads.create();
    await writer.runs.wait(thread_id, graph, { input: {} });
    return thread_id;
  }

  /** Read twice, since the second time may not reach the graph. */
  async function read(thread: string): Promise<ThreadState<Values>> {
    const state = await reader.threads.getState<Values>(thread);
    expect(await reader.threads.getState<Values>(thread)).toEqual(state);
    return state;
  }

  describe.each([
    ['ten', 'pair'],
    ['ten_python', 'pair_python'],
  ])('of %s and %s', (graph, pair) => {
    it('shows each run and edit', async () => {
      const thread = await run(graph);
      const first = await read(thread);
      expect(first.values.done).toHaveLength(10);
      await writer.threads.updateState(thread, { values: { done: ['edited'] } });
      const edited = await read(thread);
      expect(edited.values.done).toHaveLength(11);
      expect(edited.parent_checkpoint).toMatchObject({ checkpoint_id: first.checkpoint.checkpoint_id });
      await writer.runs.wait(thread, graph, { input: {} });
      expect((await read(thread)).values.done).toHaveLength(21);
      await writer.threads.updateState(thread, { values: { done: ['branch'] }, checkpoint: first.checkpoint });
      expect((await read(thread)).values.done).toHaveLength(11);
      expect((await reader.threads.getState<Values>(thread, first.checkpoint)).values.done).toHaveLength(10);
    });

    it('keeps each of several edits that are made at once, through both apis', async () => {
      const thread = await run(graph);
      const words = Array.from({ length: 10 }, (_, index) => `edit ${index}`);
      await Promise.all(
        words.map((word, index) =>
          [reader, writer][index % 2].threads.updateState(thread, { values: { done: [word] } }),
        ),
      );
      const { values } = await read(thread);
      expect((values.done as string[]).slice(10).sort()).toEqual(words);
      expect((await reader.threads.get(thread)).values).toEqual(values);
    });

    it('shows the steps of a run in flight', async () => {
      const thread = await run(graph);
      await read(thread);
      const { run_id } = await writer.runs.create(thread, graph, { input: { step_ms: 1_000 } });
      const lengths = new Set<number>();
      const countSteps = async () => {
        const { values } = await reader.threads.getState<{ done: string[] }>(thread);
        return lengths.add(values.done.length).size;
      };
      await waitFor('states of three steps', async () => (await countSteps()) >= 3);
      await writer.runs.join(thread, run_id);
      expect((await read(thread)).values.done).toHaveLength(20);
    });

    it('shows what one of two nodes has written while the other one runs', async () => {
      const { thread_id: thread } = await writer.threads.create();
      const { run_id } = await writer.runs.create(thread, pair, { input: {} });
      const showsResults = async (count: number) => {
        const { tasks } = await reader.threads.getState<Values>(thread);
        return tasks.length === 2 && tasks.filter(({ result }) => result).length === count;
      };
      await waitFor('a state without results', () => showsResults(0));
      writeFileSync(`${file}-first`, '');
      await waitFor('the first result', () => showsResults(1));
      writeFileSync(`${file}-second`, '');
      await writer.runs.join(thread, run_id);
      for (const node of ['first', 'second']) rmSync(`${file}-${node}`);
      expect((await read(thread)).values).toEqual({ early: true, late: true });
    });

    it('shows an edit whose api ended before it could say so in the row of the thread', async () => {
      const thread = await run(graph);
      await read(thread);
      const holder = await gantry.sql.connect();
      try {
        await holder.query('BEGIN');
        await holder.query('SELECT 1 FROM threads WHERE thread_id = $1 FOR NO KEY UPDATE', [thread]);
        const edit = writer.threads.updateState(thread, { values: { done: ['edited'] } });
        await waitFor('the checkpoint of the edit', async () => {
          const { values } = await reader.threads.getState<{ done: string[] }>(thread);
          return values.done.length === 11;
        });
        await holder.query('ROLLBACK');
        await edit;
      } finally {
        holder.release();
      }
      expect((await read(thread)).values.done).toHaveLength(11);
    });
  });

  it('is not edited when a run is created after the edit was accepted', async () => {
    const thread = await run('ten');
    const holder = await gantry.sql.connect();
    try {
      await holder.query('BEGIN');
      await holder.query('SELECT 1 FROM threads WHERE thread_id = $1 FOR UPDATE', [thread]);
      const edit = writer.threads.updateState(thread, { values: { done: ['edited'] } });
      const refused = expect(edit).rejects.toMatchObject({ status: 409 });
      await waitFor('the edit to wait for the thread', async () => {
        const { rowCount } = await gantry.sql.query(
          `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR KEY SHARE%'
             AND datname = current_database()`,
        );
        return rowCount! > 0;
      });
      await holder.query(`UPDATE threads SET status = 'busy' WHERE thread_id = $1`, [thread]);
      await holder.query('COMMIT');
      await refused;
    } finally {
      holder.release();
    }
    await gantry.sql.query(`UPDATE threads SET status = 'idle' WHERE thread_id = $1`, [thread]);
    expect((await read(thread)).values.done).toHaveLength(10);
  });

  it('shows what a run waits for, and that it is answered', async () => {
    const thread = await run('ask');
    const waiting = await read(thread);
    expect(waiting.next).toHaveLength(1);
    expect(waiting.tasks.flatMap(({ interrupts }) => interrupts)).toHaveLength(1);
    await writer.runs.wait(thread, 'ask', { command: { resume: 'yes' } });
    expect(await read(thread)).toMatchObject({ next: [], interrupts: [] });
  });

  it('ends with the thread', async () => {
    const thread = await run('ten');
    await read(thread);
    await writer.threads.delete(thread);
    await expect(reader.threads.getState(thread)).rejects.toThrow('404');
  });

  it('is the selected part of it', async () => {
    const thread = await run('ten');
    const state = await read(thread);
    for (const select of ['next', 'values.done', 'next']) {
      const answer = await fetch(`${gantry.url}/threads/${thread}/state?select=${select}`);
      expect(await answer.json()).toEqual(
        select === 'next' ? { next: state.next } : { values: { done: state.values.done } },
      );
    }
  });

  it.each(['switched', 'switched_python'])(
    'is made by each use of a graph that a function makes: %s',
    async (graph) => {
      writeFileSync(file, '');
      const thread = await run(graph);
      expect((await read(thread)).values).toEqual({ first: 'written', second: 'written' });
      rmSync(file);
      expect((await read(thread)).values).toEqual({ first: 'written' });
      writeFileSync(file, '');
      expect((await read(thread)).values).toEqual({ first: 'written', second: 'written' });
    },
  );
});
