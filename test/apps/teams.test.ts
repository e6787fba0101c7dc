import type { Client, ThreadState } from '@langchain/langgraph-sdk';
import { AgentApp } from '../support/agent-app';
import { describeSupervisor } from '../support/supervisor-cases';

interface State {
  messages: { type: string; name?: string; content: string }[];
  activeAgent?: string;
  __interrupt__?: { value: unknown }[];
}
interface Essay {
  essay: string;
  verdict: string;
  written: number;
  __interrupt__?: { value: { essay: string } }[];
}

const say = (...lines: string[]) => ({ messages: [{ role: 'user', content: lines.join('\n') }] });

/** Teams of agents and the functional API, as their packages' own pages show them, in a project with packages of its own. */
describe('applications of several agents, and of the functional API', () => {
  let app: AgentApp;
  let client: Client;

  beforeAll(async () => {
    app = await AgentApp.start('teams');
    ({ client } = app);
  }, 300_000);

  afterAll(() => app?.stop());

  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
  const wait = async <T = State>(thread: string, graph: string, payload: object): Promise<T> =>
    (await client.runs.wait(thread, graph, payload)) as unknown as T;

  describe('a supervisor', () => {
    describeSupervisor(() => client);
  });

  describe('a swarm', () => {
    it('keeps the thread with the agent that took it over, and goes back to a checkpoint of another agent', async () => {
      const thread = await newThread();
      const first = await wait(thread, 'swarm', { input: say('call add {"a": 5, "b": 7}') });
      expect(first.messages.at(-1)).toMatchObject({ name: 'Alice', content: 'The tool says: 12' });
      const handed = await wait(thread, 'swarm', { input: say('call transfer_to_bob {}') });
      expect(handed.activeAgent).toBe('Bob');
      const later = await wait(thread, 'swarm', { input: say('hello') });
      expect(later.messages.at(-1)).toMatchObject({ name: 'Bob', content: 'You said: hello' });

      const history: ThreadState<State>[] = await client.threads.getHistory<State>(thread, { limit: 50 });
      const ofAlice = history.find(({ values, next }) => next.length === 0 && values.activeAgent !== 'Bob');
      const forked = await wait(thread, 'swarm', { input: say('and now'), checkpoint: ofAlice!.checkpoint });
      expect(forked.messages.at(-1)).toMatchObject({ name: 'Alice', content: 'You said: and now' });
    });

    it('asks from the agent that is active', async () => {
      const thread = await newThread();
      await wait(thread, 'swarm', { input: say('call transfer_to_bob {}') });
      const asked = await wait(thread, 'swarm', { input: say('call board {"ship": "Kestrel"}') });
      expect(asked.__interrupt__?.[0]?.value).toEqual({ board: 'Kestrel' });
      const done = await wait(thread, 'swarm', { command: { resume: 'Aye' } });
      expect(done.messages.at(-1)).toMatchObject({ name: 'Bob', content: 'The tool says: Aye, Kestrel' });
    });
  });

  describe('a workflow of the functional API', () => {
    it('streams its tasks, asks, and does not repeat a finished task when it resumes', async () => {
      const thread = await newThread();
      const seen: unknown[] = [];
      for await (const { event, data } of client.runs.stream(thread, 'essay', {
        input: { topic: 'cats' },
        streamMode: 'updates',
      })) {
        if (event === 'updates') seen.push(data);
      }
      expect(seen[0]).toEqual({ writeEssay: expect.stringContaining('An essay about cats') as string });
      expect((await client.threads.get(thread)).status).toBe('interrupted');
      const done = await wait<Essay>(thread, 'essay', { command: { resume: 'good' } });
      expect(done).toEqual({ essay: (seen[0] as { writeEssay: string }).writeEssay, verdict: 'good', written: 1 });
    });

    it('knows what it returned before, and goes back to a checkpoint', async () => {
      const thread = await newThread();
      for (const topic of ['cats', 'dogs']) {
        const asked = await wait<Essay>(thread, 'essay', { input: { topic } });
        expect(asked.__interrupt__?.[0]?.value.essay).toContain(topic);
        await wait(thread, 'essay', { command: { resume: topic } });
      }
      const state = await client.threads.getState<Essay>(thread);
      expect(state.values).toMatchObject({ verdict: 'dogs', written: 2 });
      const history: ThreadState<Essay>[] = await client.threads.getHistory<Essay>(thread, { limit: 50 });
      const first = history.find(({ values, next }) => next.length === 0 && values?.verdict === 'cats')!;
      await wait(thread, 'essay', { input: { topic: 'birds' }, checkpoint: first.checkpoint });
      const forked = await wait<Essay>(thread, 'essay', { command: { resume: 'again' } });
      expect(forked).toMatchObject({ verdict: 'again', written: 2 });
    });
  });
});
