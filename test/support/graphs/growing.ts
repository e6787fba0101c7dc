import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';

const State = z.object({
  /** MiB that the module keeps from now on. */
  mb: z.number().optional(),
  /** Path of a file whose existence ends the node. */
  until_file: z.string().optional(),
  pid: z.number().optional(),
});

const kept: Buffer[] = [];

/** A leak: what its runs allocate is never freed. */
export const growing = new StateGraph(State)
  .addNode('keep', async ({ mb = 0, until_file: until }) => {
    kept.push(Buffer.alloc(mb * 1024 * 1024, 1));
    while (until && !existsSync(until)) await sleep(50);
    return { pid: process.pid };
  })
  .addEdge(START, 'keep')
  .compile();
