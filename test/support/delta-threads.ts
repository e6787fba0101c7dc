import type { Client } from '@langchain/langgraph-sdk';
import type { Gantry } from './gantry';
import { waitFor } from './wait-for';

export interface Kept {
  checkpoints: number;
  blobs: number;
  writes: number;
}

/** Numbers of rows of a thread. */
export async function keptOf({ sql }: Gantry, threadId: string): Promise<Kept> {
  const count = async (table: string): Promise<number> => {
    const { rows } = await sql.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM langgraph.${table} WHERE thread_id = $1`,
      [threadId],
    );
    return rows[0].count;
  };
  return {
    checkpoints: await count('checkpoints'),
    blobs: await count('checkpoint_blobs'),
    writes: await count('checkpoint_writes'),
  };
}

interface DeltaState {
  values: { often: string[]; rarely: string[] };
}

/** Threads of the graph `delta`, in whichever language, whose values are in the writes of earlier checkpoints. */
export class DeltaThreads {
  constructor(
    private readonly client: () => Client,
    /** Its name in the project. */
    readonly graph: string,
  ) {}

  say(word: string, more: object = {}): Record<string, unknown> {
    return { often: [word], rarely: [word], left: 4, sleep_ms: 0, ...more };
  }

  /** The state, as stored and as another run reads it. */
  async stateOf(threadId: string) {
    const { values, next, checkpoint } = await this.client().threads.getState<DeltaState['values']>(threadId);
    return { values, next, checkpoint };
  }

  async ranTwice(ttl?: object): Promise<string> {
    const { thread_id } = await this.client().threads.create({ ...(ttl && { ttl: ttl as never }) });
    await this.client().runs.wait(thread_id, this.graph, { input: this.say('one') });
    await this.client().runs.wait(thread_id, this.graph, { input: this.say('two') });
    const { values } = await this.stateOf(thread_id);
    const steps = ['step 4', 'step 3', 'step 2', 'step 1'];
    expect(values).toMatchObject({
      often: ['one', ...steps, 'two', ...steps],
      rarely: ['one', ...steps, 'two', ...steps],
    });
    return thread_id;
  }

  async expectToContinueFrom(threadId: string, { values }: DeltaState): Promise<void> {
    const further = await this.client().runs.wait(threadId, this.graph, { input: this.say('three', { left: 1 }) });
    expect(further).toMatchObject({
      often: [...values.often, 'three', 'step 1'],
      rarely: [...values.rarely, 'three', 'step 1'],
    });
  }
}

/**
 * Cases of pruning, deletion and rollback of such a thread.
 * @param more cases of the caller's own
 * @param graph name of the graph in the project
 */
export function describeDeltaThreads(
  gantryOf: () => Gantry,
  more?: (threads: DeltaThreads) => void,
  graph = 'delta',
): void {
  describe('of a graph whose values are in the writes of earlier checkpoints', () => {
    const threads = new DeltaThreads(() => gantryOf().client(), graph);
    let client: Client;

    beforeAll(() => {
      client = gantryOf().client();
    });

    more?.(threads);

    it('stays as it is when it is cut down by hand, twice, and loses what nothing is read from', async () => {
      const threadId = await threads.ranTwice();
      // An edit stores the value of one channel, whose ancestors need not be kept.
      await client.threads.updateState(threadId, { values: { rarely: ['edited'] }, asNode: 'nap' });
      const before = [await threads.stateOf(threadId), await keptOf(gantryOf(), threadId)] as const;
      for (let time = 0; time < 2; time += 1) {
        await client.threads.prune([threadId], { strategy: 'keep_latest' });
        expect(await threads.stateOf(threadId)).toEqual(before[0]);
      }
      await threads.expectToContinueFrom(threadId, before[0]);
      // Enough steps that the library stores the values once in between.
      await client.runs.wait(threadId, graph, {
        input: threads.say('more', { left: 90 }),
        config: { recursion_limit: 200 },
      });
      const last = await threads.stateOf(threadId);
      await client.threads.prune([threadId], { strategy: 'keep_latest' });
      expect(await threads.stateOf(threadId)).toEqual(last);
      expect((await keptOf(gantryOf(), threadId)).checkpoints).toBeLessThan(before[1].checkpoints);
    });

    it('stays as it is when an earlier run is deleted', async () => {
      const threadId = await threads.ranTwice();
      const before = await threads.stateOf(threadId);
      const [, first] = await client.runs.list(threadId);
      await client.runs.delete(threadId, first.run_id);
      expect(await threads.stateOf(threadId)).toEqual(before);
      await threads.expectToContinueFrom(threadId, before);
    });

    it('is what it was before its newest run when that is deleted', async () => {
      const threadId = await threads.ranTwice();
      const before = await threads.stateOf(threadId);
      await client.runs.wait(threadId, graph, { input: threads.say('gone') });
      const [newest] = await client.runs.list(threadId);
      await client.runs.delete(threadId, newest.run_id);
      expect(await threads.stateOf(threadId)).toEqual(before);
      await threads.expectToContinueFrom(threadId, before);
    });

    it('stays as it is when earlier runs are deleted beside one in flight', async () => {
      const threadId = await threads.ranTwice();
      const earlier = await client.runs.list(threadId);
      const run = await client.runs.create(threadId, graph, { input: threads.say('third', { sleep_ms: 60_000 }) });
      await waitFor('the last node to begin', async () => (await threads.stateOf(threadId)).next[0] === 'nap');
      const inFlight = await threads.stateOf(threadId);
      for (const { run_id } of earlier) {
        await client.runs.delete(threadId, run_id);
        expect(await threads.stateOf(threadId)).toEqual(inFlight);
      }
      await client.runs.cancel(threadId, run.run_id, true, 'interrupt');
      expect(await threads.stateOf(threadId)).toEqual(inFlight);
      await threads.expectToContinueFrom(threadId, inFlight);
    });

    it('is what it was before a run that is rolled back', async () => {
      const threadId = await threads.ranTwice();
      const before = await threads.stateOf(threadId);
      const run = await client.runs.create(threadId, graph, { input: threads.say('gone', { sleep_ms: 60_000 }) });
      await waitFor('the last node to begin', async () => (await threads.stateOf(threadId)).next[0] === 'nap');
      await client.runs.cancel(threadId, run.run_id, true, 'rollback');
      await waitFor('the end of the run', async () => (await client.threads.get(threadId)).status === 'idle');
      expect(await threads.stateOf(threadId)).toEqual(before);
      await threads.expectToContinueFrom(threadId, before);
    });
  });
}
