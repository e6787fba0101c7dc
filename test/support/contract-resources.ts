import type { Client } from '@langchain/langgraph-sdk';
import type { Resources } from './client-contract';
import { waitFor } from './wait-for';

/**
 * The resources that the calls of the contract use, created on a server with the graphs of shapes.json.
 * @param webhook address that takes whatever is posted to it
 */
export async function prepareResources(client: Client, webhook: string): Promise<Resources> {
  const newThread = async (): Promise<string> => (await client.threads.create()).thread_id;
  const [threadId, { askedThreadId, interruptId }] = [await newThread(), await newQuestion(client)];
  const { run_id: runId } = await client.runs.create(threadId, 'three', { input: {} });
  await client.runs.join(threadId, runId);
  const { checkpoint } = await client.threads.getState(threadId);
  return {
    ...{ threadId, askedThreadId, interruptId, runId, newThread, webhook, checkpointId: checkpoint.checkpoint_id! },
    assistantId: (await client.assistants.create({ graphId: 'three' })).assistant_id,
    newRun: async () => {
      const thread = await newThread();
      const { run_id } = await client.runs.create(thread, 'sleep', { input: { sleep_ms: 60_000 } });
      return { threadId: thread, runId: run_id };
    },
    newCron: async () => (await client.crons.create('three', { schedule: '0 0 1 1 *' })).cron_id,
  };
}

/** The same thread with a question of its own, since a question is answered only once. */
export async function withQuestion(client: Client, resources: Resources): Promise<Resources> {
  return { ...resources, ...(await newQuestion(client)) };
}

/** Resolves when no run is on the thread that calls are about, so that they do not depend on each other's speed. */
export async function untilIdle(client: Client, { threadId }: Resources): Promise<void> {
  await waitFor('the end of runs', async () => (await client.threads.get(threadId)).status !== 'busy');
}

async function newQuestion(client: Client): Promise<{ askedThreadId: string; interruptId: string }> {
  const { thread_id: askedThreadId } = await client.threads.create();
  const asked = (await client.runs.wait(askedThreadId, 'ask', { input: {} })) as { __interrupt__: { id: string }[] };
  return { askedThreadId, interruptId: asked.__interrupt__[0].id };
}
