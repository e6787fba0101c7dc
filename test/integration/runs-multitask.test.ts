import type { Client, Run } from '@langchain/langgraph-sdk';
import { Gantry, startGantry } from '../support/gantry';
import { describeLanguages } from '../support/languages';
import { SseReader } from '../support/sse';
import { waitFor } from '../support/wait-for';

const ENQUEUED = 20;
/** Far longer than any test, so that only the tested request ends such a run. */
const FOREVER = { sleep_ms: 600_000 };

/** Every text in a history, those inside payloads too. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (value instanceof Uint8Array) return [Buffer.from(value).toString()];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

interface RunRow {
  run_id: string;
  status: string;
  started_at: Date | null;
  ended_at: Date | null;
}

/** Several runs on one thread, and runs that a client wants to end. */
describeLanguages('double texting and cancelling, of graphs in $language', ({ graphs }) => {
  let gantry: Gantry;
  let client: Client;

  beforeAll(async () => {
    gantry = await startGantry({ graphs, graphProcesses: 1 });
    client = gantry.client();
  });

  afterAll(() => gantry?.stop());

  const createThread = async (): Promise<string> => (await client.threads.create()).thread_id;

  const rowsOf = async (thread: string): Promise<RunRow[]> =>
    (
      await gantry.sql.query<RunRow>(
        'SELECT run_id, status, started_at, ended_at FROM runs WHERE thread_id = $1 ORDER BY scheduled_at, run_id',
        [thread],
      )
    ).rows;

  const statusOf = async (thread: string, run: string): Promise<string> => (await client.runs.get(thread, run)).status;

  const untilStatus = (thread: string, run: string, status: string): Promise<true> =>
    waitFor(`run ${run} to be ${status}`, async () => (await statusOf(thread, run)) === status);

  const untilIdle = (thread: string): Promise<true> =>
    waitFor('the thread to be idle', async () => (await client.threads.get(thread)).status === 'idle');

  /** A run that is in its node, and stays there. */
  async function startSleeper(thread: string): Promise<string> {
    const { run_id } = await client.runs.create(thread, 'sleep', { input: FOREVER });
    await waitFor('the node to sleep', async () => (await gantry.ledger.of(run_id)).length > 0);
    return run_id;
  }

  const exists = async (thread: string, run: string): Promise<boolean> =>
    (await fetch(`${gantry.url}/threads/${thread}/runs/${run}`)).status === 200;

  describe('enqueue', () => {
    it(`runs ${ENQUEUED} runs that arrived at once in order, one at a time`, async () => {
      const thread = await createThread();
      const runs = await Promise.all(
        Array.from({ length: ENQUEUED }, (_, index) =>
          client.runs.create(thread, 'three', { input: {}, metadata: { index }, multitaskStrategy: 'enqueue' }),
        ),
      );
      await Promise.all(runs.map(({ run_id }) => client.runs.join(thread, run_id)));
      await untilIdle(thread);
      const rows = await rowsOf(thread);
      expect(rows.map(({ status }) => status)).toEqual(Array(ENQUEUED).fill('success'));
      for (let index = 1; index < rows.length; index += 1) {
        expect(rows[index].started_at!.getTime()).toBeGreaterThanOrEqual(rows[index - 1].ended_at!.getTime());
      }
      // The graph confirms it: no node began before the earlier run had ended its last one.
      const executions = (await gantry.ledger.all()).filter(({ thread_id }) => thread_id === thread);
      expect(executions).toHaveLength(ENQUEUED * 3);
      expect([...new Set(executions.map(({ run_id }) => run_id))]).toEqual(rows.map(({ run_id }) => run_id));
      for (let index = 1; index < executions.length; index += 1) {
        expect(executions[index].started_at.getTime()).toBeGreaterThanOrEqual(
          executions[index - 1].ended_at!.getTime(),
        );
      }
    });

    it('is the default, and the stream of a waiting run begins when its turn comes', async () => {
      const thread = await createThread();
      const first = await client.runs.create(thread, 'sleep', { input: { sleep_ms: 500 } });
      expect(first.multitask_strategy).toBe('enqueue');
      const stream = await SseReader.post(`${gantry.url}/threads/${thread}/runs/stream`, {
        assistant_id: 'three',
        input: {},
        stream_mode: 'updates',
      });
      const events = await stream.rest();
      expect(events.map(({ event }) => event)).toEqual(['metadata', 'updates', 'updates', 'updates']);
      expect(await statusOf(thread, first.run_id)).toBe('success');
    });
  });

  it('reject: the second run is a 409, and the first one is not affected', async () => {
    const thread = await createThread();
    const first = await startSleeper(thread);
    await expect(client.runs.create(thread, 'three', { input: {}, multitaskStrategy: 'reject' })).rejects.toThrow(
      /409/,
    );
    expect(await rowsOf(thread)).toMatchObject([{ run_id: first, status: 'running' }]);
    await client.runs.cancel(thread, first, true);
    const after = await client.runs.wait(thread, 'three', { input: {}, multitaskStrategy: 'reject' });
    expect(after).toHaveProperty('done');
  });

  it('interrupt: the running one ends as interrupted with what it had written, the new one runs', async () => {
    const thread = await createThread();
    const slow = await client.runs.create(thread, 'ten', { input: { step_ms: 1_000 } });
    await waitFor('the third node', async () => (await gantry.ledger.of(slow.run_id)).length >= 3);
    const next = await client.runs.create(thread, 'three', { input: { step_ms: 0 }, multitaskStrategy: 'interrupt' });
    const result = (await client.runs.join(thread, next.run_id)) as unknown as { done: string[] };
    expect(await statusOf(thread, slow.run_id)).toBe('interrupted');
    expect(await statusOf(thread, next.run_id)).toBe('success');
    expect(result.done.slice(0, 2)).toEqual(['node_1', 'node_2']);
    expect(result.done.slice(-3)).toEqual(['node_1', 'node_2', 'node_3']);
    await untilIdle(thread);
    expect((await gantry.ledger.of(slow.run_id)).length).toBeLessThan(10);
  });

  it('rollback: the running one is deleted with all that it wrote, and the new one begins where that one began', async () => {
    const thread = await createThread();
    await client.runs.wait(thread, 'three', { input: {} });
    const slow = await client.runs.create(thread, 'ten', { input: { step_ms: 1_000 } });
    await waitFor('the third node', async () => (await gantry.ledger.of(slow.run_id)).length >= 3);
    const next = await client.runs.create(thread, 'three', { input: { step_ms: 0 }, multitaskStrategy: 'rollback' });
    const result = (await client.runs.join(thread, next.run_id)) as unknown as { done: string[] };
    expect(result.done).toEqual(['node_1', 'node_2', 'node_3', 'node_1', 'node_2', 'node_3']);
    expect(await exists(thread, slow.run_id)).toBe(false);
    const history = await client.threads.getHistory(thread, { limit: 100 });
    const authors = new Set(history.map(({ metadata }) => (metadata as { run_id?: string } | null)?.run_id));
    expect(authors).not.toContain(slow.run_id);
    await untilIdle(thread);
  });

  it('rollback of a run that waits: it is deleted, and never ran', async () => {
    const thread = await createThread();
    const sleeper = await startSleeper(thread);
    const waiting = await client.runs.create(thread, 'three', { input: {} });
    const last = await client.runs.create(thread, 'three', { input: {}, multitaskStrategy: 'rollback' });
    await client.runs.join(thread, last.run_id);
    expect(await exists(thread, sleeper)).toBe(false);
    expect(await exists(thread, waiting.run_id)).toBe(false);
    expect(await gantry.ledger.of(waiting.run_id)).toEqual([]);
    await untilIdle(thread);
  });

  describe('two tabs on one thread', () => {
    const prompt = (text: string) => ({ messages: [{ type: 'human', content: text }], words: 8, letter_ms: 5 });
    const saidIn = async (thread: string): Promise<string[]> => {
      const { values } = await client.threads.get(thread);
      const { messages } = values as { messages: { type: string; content: string }[] };
      return messages.filter(({ type }) => type === 'human').map(({ content }) => content);
    };

    it('both send at once: both are answered, and each tab streams its own answer', async () => {
      const thread = await createThread();
      const tabs = [gantry.client(), gantry.client()];
      const streams = await Promise.all(
        tabs.map(async (tab, index) => {
          const events: { event: string; data: unknown }[] = [];
          const stream = tab.runs.stream(thread, 'prose', { input: prompt(`tab ${index}`), streamMode: 'values' });
          for await (const part of stream) events.push(part as never);
          return events;
        }),
      );
      streams.forEach((events, index) => {
        const last = events.at(-1)!.data as { messages: { type: string; content: string }[] };
        expect(last.messages.at(-1)).toMatchObject({ type: 'ai', content: 'w0 w1 w2 w3 w4 w5 w6 w7' });
        expect(last.messages.map(({ content }) => content)).toContain(`tab ${index}`);
      });
      expect((await saidIn(thread)).sort()).toEqual(['tab 0', 'tab 1']);
      expect((await rowsOf(thread)).map(({ status }) => status)).toEqual(['success', 'success']);
    });

    it('one stops while the other sends: the new message is answered, the stopped one stays in the thread', async () => {
      const thread = await createThread();
      const slow = await client.runs.create(thread, 'prose', { input: { ...prompt('stop me'), letter_ms: 60_000 } });
      await waitFor('the slow run to begin', async () => (await gantry.ledger.of(slow.run_id)).length > 0);
      const other = gantry.client();
      const [, answer] = await Promise.all([
        client.runs.cancel(thread, slow.run_id),
        other.runs.wait(thread, 'prose', { input: prompt('and this?') }),
      ]);
      expect(JSON.stringify(answer)).toContain('w7');
      expect(await saidIn(thread)).toEqual(['stop me', 'and this?']);
      await untilIdle(thread);
    });

    it('one sends while the other has a question: the message does not answer it, nothing is lost, both runs end', async () => {
      const thread = await createThread();
      await client.runs.wait(thread, 'desk', { input: { messages: [{ type: 'human', content: 'a refund' }] } });
      const [resumed, sent] = await Promise.all([
        client.runs.wait(thread, 'desk', { command: { resume: 'yes' } }),
        gantry.client().runs.wait(thread, 'desk', { input: { messages: [{ type: 'human', content: 'hello?' }] } }),
      ]);
      expect([resumed, sent]).toHaveLength(2);
      expect(await saidIn(thread)).toEqual(['a refund', 'hello?']);
      expect((await rowsOf(thread)).map(({ status }) => status)).toEqual(['success', 'success', 'success']);
    });
  });

  describe('cancel', () => {
    it('of a running one ends it within moments, and the thread can be used at once', async () => {
      const thread = await createThread();
      const run = await startSleeper(thread);
      const since = Date.now();
      await client.runs.cancel(thread, run, true);
      // Less than the minute after which a forgotten heartbeat would reach the worker.
      expect(Date.now() - since).toBeLessThan(30_000);
      expect(await statusOf(thread, run)).toBe('interrupted');
      expect(await client.threads.getState(thread)).toMatchObject({ next: ['nap'] });
      expect(await client.runs.wait(thread, 'sleep', { input: { sleep_ms: 0 } })).toMatchObject({ note: ' slept' });
    });

    it('of one that waits: it never runs, and the others move up', async () => {
      const thread = await createThread();
      const sleeper = await startSleeper(thread);
      const waiting = await client.runs.create(thread, 'three', { input: {} });
      const last = await client.runs.create(thread, 'three', { input: {} });
      await client.runs.cancel(thread, waiting.run_id, true);
      expect(await statusOf(thread, waiting.run_id)).toBe('interrupted');
      expect((await client.threads.get(thread)).status).toBe('busy');
      await client.runs.cancel(thread, sleeper, true);
      await client.runs.join(thread, last.run_id);
      expect(await statusOf(thread, last.run_id)).toBe('success');
      expect(await gantry.ledger.of(waiting.run_id)).toEqual([]);
    });

    it('twice: the second one has no effect, in every order of arrival', async () => {
      const thread = await createThread();
      const run = await startSleeper(thread);
      const cancel = (): Promise<Response> =>
        fetch(`${gantry.url}/threads/${thread}/runs/${run}/cancel`, { method: 'POST' });
      const both = await Promise.all([cancel(), cancel()]);
      for (const { status } of both) expect([202, 404]).toContain(status);
      expect(both.some(({ status }) => status === 202)).toBe(true);
      await untilStatus(thread, run, 'interrupted');
      const late = await cancel();
      expect(late.status).toBe(404);
      expect(await late.text()).toMatch(/already ended/);
    });

    it('and send again at once: the new message is not lost', async () => {
      const thread = await createThread();
      const run = await startSleeper(thread);
      await client.runs.cancel(thread, run);
      const result = await client.runs.wait(thread, 'three', { input: {} });
      expect(result).toMatchObject({ done: ['node_1', 'node_2', 'node_3'] });
      expect(await statusOf(thread, run)).toBe('interrupted');
    });

    it('with rollback: the run is gone and the thread is as it was', async () => {
      const thread = await createThread();
      await client.runs.wait(thread, 'sleep', { input: { sleep_ms: 0, note: 'first' } });
      const before = await client.threads.getState(thread);
      const run = await startSleeper(thread);
      await client.runs.cancel(thread, run, true, 'rollback');
      await waitFor('the run to be gone', async () => !(await exists(thread, run)));
      await untilIdle(thread);
      expect(await client.threads.getState(thread)).toEqual(before);
      expect((await client.threads.get(thread)).values).toEqual(before.values);
    });

    describe('of a run that has answered a question of an earlier run', () => {
      const questionsOf = async (thread: string): Promise<unknown[]> =>
        (await client.threads.getState(thread)).tasks[0].interrupts.map(({ value }) => value as unknown);
      const answer = (thread: string, resume: { says: string }) =>
        client.runs.wait(thread, 'consent', { command: { resume } });

      async function asked(): Promise<string> {
        const thread = await createThread();
        await client.runs.wait(thread, 'consent', { input: {} });
        return thread;
      }

      /** Answers the open question, and ends the run of the answer by rollback in a node that takes long. */
      async function withdraw(thread: string, node: 'ask' | 'nap'): Promise<void> {
        const resume = { says: 'yes', [`${node}_ms`]: FOREVER.sleep_ms };
        const { run_id: run } = await client.runs.create(thread, 'consent', { command: { resume } });
        await waitFor('the node', async () => (await gantry.ledger.of(run)).some((each) => each.node === node));
        await client.runs.cancel(thread, run, true, 'rollback');
        await waitFor('the run to be gone', async () => !(await exists(thread, run)));
      }

      it.each(['ask', 'nap'] as const)(
        'with rollback, in the node %s: the question is open, and the answer before it is kept',
        async (node) => {
          const thread = await asked();
          await answer(thread, { says: 'one' });
          const before = await client.threads.getState(thread);
          const { values, interrupts } = await client.threads.get(thread);
          await withdraw(thread, node);
          expect(await questionsOf(thread)).toEqual(['Continue?']);
          expect(await client.threads.getState(thread)).toEqual(before);
          expect(await client.threads.get(thread)).toMatchObject({ status: 'interrupted', values, interrupts });
          await answer(thread, { says: 'no' });
          expect((await client.threads.getState(thread)).values).toMatchObject({ answers: ['one', 'no'] });
        },
      );

      it('by deletion, after its end: the answer stays', async () => {
        const thread = await asked();
        await answer(thread, { says: 'one' });
        const before = await client.threads.getState(thread);
        const [answered] = await client.runs.list(thread);
        await client.runs.delete(thread, answered.run_id);
        expect(await client.threads.getState(thread)).toEqual(before);
        await answer(thread, { says: 'no' });
        expect((await client.threads.getState(thread)).values).toMatchObject({ answers: ['one', 'no'] });
      });

      it('with rollback, and the thread continues without an answer: it asks again', async () => {
        const thread = await asked();
        await withdraw(thread, 'ask');
        await client.runs.wait(thread, 'consent', { input: null });
        expect(await questionsOf(thread)).toEqual(['Begin?']);
      });
    });

    it('while an interrupt waits for a person: there is no run to cancel, and the question stays', async () => {
      const thread = await createThread();
      await client.runs.wait(thread, 'ask', { input: {} });
      const [run] = await client.runs.list(thread);
      await expect(client.runs.cancel(thread, run.run_id)).rejects.toThrow(/404/);
      expect((await client.threads.get(thread)).status).toBe('interrupted');
      expect(await client.runs.wait(thread, 'ask', { command: { resume: 'yes' } })).toMatchObject({ answer: 'yes' });
    });

    it('in bulk: the named runs of a thread, then all', async () => {
      const thread = await createThread();
      const run = await startSleeper(thread);
      const waiting = await client.runs.create(thread, 'three', { input: {} });
      const cancel = (body: unknown): Promise<Response> =>
        fetch(`${gantry.url}/runs/cancel`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
      expect((await cancel({ thread_id: thread, run_ids: [waiting.run_id] })).status).toBe(204);
      expect(await statusOf(thread, waiting.run_id)).toBe('interrupted');
      expect(await statusOf(thread, run)).toBe('running');
      expect((await cancel({ status: 'all' })).status).toBe(204);
      await untilStatus(thread, run, 'interrupted');
      expect((await cancel({ status: 'all' })).status).toBe(404);
    });

    it('by disconnecting, when the client requested that; otherwise the run continues', async () => {
      const outcomes = await Promise.all(
        (['cancel', 'continue'] as const).map(async (on_disconnect) => {
          const thread = await createThread();
          const stream = await SseReader.post(`${gantry.url}/threads/${thread}/runs/stream`, {
            assistant_id: 'sleep',
            input: { sleep_ms: on_disconnect === 'cancel' ? 600_000 : 3_000 },
            on_disconnect,
          });
          const [metadata] = await stream.until(({ event }) => event === 'metadata');
          const { run_id } = metadata.data as { run_id: string };
          await waitFor('the node to sleep', async () => (await gantry.ledger.of(run_id)).length > 0);
          await stream.close();
          const ended = await waitFor('the end of the run', async () => {
            const status = await statusOf(thread, run_id);
            return status !== 'running' && status;
          });
          return [on_disconnect, ended];
        }),
      );
      expect(outcomes).toEqual([
        ['cancel', 'interrupted'],
        ['continue', 'success'],
      ]);
    });
  });

  it('deleting a run in flight stops it and frees its thread', async () => {
    const thread = await createThread();
    const run = await startSleeper(thread);
    const next = await client.runs.create(thread, 'three', { input: {} });
    await client.runs.delete(thread, run);
    expect(await exists(thread, run)).toBe(false);
    await client.runs.join(thread, next.run_id);
    await untilIdle(thread);
  });

  it('deleting a thread with a run in flight stops the run and leaves nothing', async () => {
    const thread = await createThread();
    const run = await startSleeper(thread);
    const handle = await gantry.workflowOf(run);
    await client.threads.delete(thread);
    await expect(client.threads.get(thread)).rejects.toThrow(/404/);
    await waitFor('the workflow to end', async () => (await handle.describe()).status.name !== 'RUNNING', 40_000);
    expect((await gantry.sql.query('SELECT 1 FROM runs WHERE run_id = $1', [run])).rows).toEqual([]);
  });

  describe('after_seconds', () => {
    it('begins a run not before its time', async () => {
      const thread = await createThread();
      const asked = Date.now();
      const run: Run = await client.runs.create(thread, 'three', { input: {}, afterSeconds: 2 });
      expect(run.status).toBe('pending');
      await client.runs.join(thread, run.run_id);
      const [row] = await rowsOf(thread);
      expect(row.status).toBe('success');
      // The database's clock and ours are the same machine's.
      expect(row.started_at!.getTime() - asked).toBeGreaterThanOrEqual(1_990);
    });

    it('lets other runs pass meanwhile', async () => {
      const thread = await createThread();
      const later = await client.runs.create(thread, 'three', { input: {}, afterSeconds: 3600 });
      await client.runs.wait(thread, 'three', { input: {} });
      expect(await statusOf(thread, later.run_id)).toBe('pending');
      await client.runs.cancel(thread, later.run_id, true);
    });

    it('can be cancelled before its time', async () => {
      const thread = await createThread();
      const run = await client.runs.create(thread, 'three', { input: {}, afterSeconds: 3600 });
      await client.runs.cancel(thread, run.run_id, true);
      expect(await statusOf(thread, run.run_id)).toBe('interrupted');
      await untilIdle(thread);
      expect(await gantry.ledger.of(run.run_id)).toEqual([]);
    });

    it('leaves no workflow that waits in vain, however soon it is cancelled', async () => {
      const cancelled = Array.from({ length: 10 }, async () => {
        const thread = await createThread();
        const { run_id } = await client.runs.create(thread, 'three', { input: {}, afterSeconds: 3600 });
        await client.runs.cancel(thread, run_id);
        return run_id;
      });
      for (const runId of await Promise.all(cancelled)) {
        const handle = await gantry.workflowOf(runId);
        await waitFor('the workflow to end', async () => (await handle.describe()).status.name !== 'RUNNING');
      }
    });
  });

  it('in Temporal, a run shows its graph, thread and node, and none of its input', async () => {
    const thread = await createThread();
    const canary = 'canary-4711';
    const { run_id } = await client.runs.create(thread, 'sleep', {
      input: { ...FOREVER, note: canary },
      config: { configurable: { token: canary } },
      metadata: { canary },
    });
    // The answer comes when the run is stored; its workflow begins right after.
    await waitFor('the node', async () => (await gantry.ledger.of(run_id)).length > 0);
    const handle = await gantry.workflowOf(run_id);
    const shown = await waitFor('a heartbeat with the node', async () => {
      const description = await handle.describe();
      const [activity] = description.raw.pendingActivities ?? [];
      const beat = activity?.heartbeatDetails?.payloads?.[0]?.data;
      return (
        beat && {
          summary: await description.staticSummary(),
          beat: JSON.parse(Buffer.from(beat).toString()) as unknown,
        }
      );
    });
    const taskQueue = expect.stringMatching(/^gantry-runs-held-/) as string;
    expect(shown).toEqual({ summary: `sleep on thread ${thread}`, beat: { node: 'nap', taskQueue } });
    await client.runs.cancel(thread, run_id, true);
    const texts = [JSON.stringify((await handle.describe()).memo ?? {}), ...textsIn(await handle.fetchHistory())];
    expect(texts.join()).toContain(run_id);
    expect(texts.join()).not.toContain(canary);
  });

  it('a run that failed has its error in the stream, in the result, in run and thread; and the next run works', async () => {
    const thread = await createThread();
    const stream = await SseReader.post(`${gantry.url}/threads/${thread}/runs/stream`, {
      assistant_id: 'fail',
      input: { message: 'Out of paper' },
      stream_mode: 'updates',
    });
    const events = await stream.rest();
    expect(events.at(-1)).toMatchObject({ event: 'error', data: { error: 'TypeError', message: 'Out of paper' } });
    const [run] = await client.runs.list(thread);
    expect(run.status).toBe('error');
    expect(await client.threads.get(thread)).toMatchObject({ status: 'error', values: { passed: true } });
    const joined = await (await fetch(`${gantry.url}/threads/${thread}/runs/${run.run_id}/join`)).json();
    expect(joined).toEqual({ __error__: { error: 'TypeError', message: 'Out of paper' } });
    const again = await (
      await SseReader.get(`${gantry.url}/threads/${thread}/runs/${run.run_id}/stream`, { 'last-event-id': '-1' })
    ).rest();
    expect(again).toEqual(events);
    await client.runs.wait(thread, 'three', { input: {} });
    await untilIdle(thread);
  });
});
