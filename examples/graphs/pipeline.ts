import type { RunnableConfig } from '@langchain/core/runnables';
import { END, START, StateGraph } from '@langchain/langgraph';
import { registry } from '@langchain/langgraph/zod';
import { z } from 'zod';

const STEPS = 10;

const State = z.object({
  step_ms: z.number().int().min(0).max(3_600_000).default(200).describe('How long each step takes, in milliseconds'),
  tool_url: z
    .string()
    .optional()
    .describe('A tool on this machine that each step calls once (http://127.0.0.1:PORT/…)'),
  done: z
    .array(z.string())
    .default([])
    .register(registry, { reducer: { fn: (left: string[], right: string[]) => left.concat(right) } }),
});

/**
 * The call's identity: the same when a step starts again after a crash, another for every other step and run.
 * A tool that honours it as its Idempotency-Key takes effect once however often it is called.
 */
function idempotencyKey(config: RunnableConfig): string {
  const { run_id, checkpoint_ns } = config.configurable as { run_id: string; checkpoint_ns: string };
  return `${run_id}/${checkpoint_ns}`;
}

async function callTool(url: string, step: string, config: RunnableConfig): Promise<void> {
  const { hostname } = new URL(url);
  if (hostname !== '127.0.0.1' && hostname !== 'localhost') throw new Error('tool_url must be on this machine');
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey(config) },
    body: JSON.stringify({ step }),
    signal: config.signal,
  });
  if (!response.ok) throw new Error(`The tool answered ${response.status} to ${step}`);
}

function step(name: string) {
  return async ({ step_ms, tool_url }: z.infer<typeof State>, config: RunnableConfig) => {
    if (tool_url) await callTool(tool_url, name, config);
    await new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, step_ms);
      config.signal?.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(new Error('aborted'));
      });
    });
    return { done: [name] };
  };
}

const names = Array.from({ length: STEPS }, (_, index) => `step_${index + 1}`);

export const graph = new StateGraph(State)
  .addSequence(names.map((name): [string, ReturnType<typeof step>] => [name, step(name)]))
  .addEdge(START, names[0])
  .addEdge(names[STEPS - 1], END)
  .compile({ name: 'pipeline' });
