import { closeSync, readFileSync, writeSync } from 'node:fs';
import { serialize } from 'node:v8';
import type { RunnableConfig } from '@langchain/core/runnables';
import { END, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
import { type Identity, recordExecution } from './ledger-node';

/** Descriptor of the channel of a graph process. */
const MESSAGES = 3;

const WAYS: Record<string, () => void> = {
  exit: () => process.exit(3),
  // A fault in native code, which no JavaScript handler sees.
  fault: () => process.kill(process.pid, 'SIGSEGV'),
  memory: () => {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 100_000 }, (_, index) => index * 1.5));
  },
  // Writes to the channel of its process: bytes that are no message, no content, a message that is too long, nonsense, or
  // closes it.
  garbage: () => writeSync(MESSAGES, Buffer.alloc(1_000, 7)),
  content: () => writeSync(MESSAGES, framed(Buffer.alloc(1_000, 7))),
  length: () => writeSync(MESSAGES, framed(Buffer.alloc(0), 0xff_ff_ff_ff)),
  nonsense: () => writeSync(MESSAGES, framed(serialize({ type: 'events', id: 2, events: [null] }))),
  unknown: () => writeSync(MESSAGES, framed(serialize({ type: 'constructor', cmd: 'NODE_HANDLE' }))),
  close: () => closeSync(MESSAGES),
};

/** Framed as a message: a mark and the length come first. */
function framed(body: Buffer, length = body.length): Buffer {
  const header = Buffer.from('GNTR\0\0\0\0');
  header.writeUInt32BE(length, 4);
  return Buffer.concat([header, body]);
}

const Crashing = z.object({ way: z.string().default('exit'), survived: z.boolean().default(false) });

/** Ends the process of its first attempt in one of several ways. */
export const crash = new StateGraph(Crashing)
  .addNode('crash', async ({ way }, config: RunnableConfig) => {
    await recordExecution('crash', config);
    if ((config.configurable as Identity).run_attempt === 1) {
      WAYS[way]();
      await new Promise(() => undefined);
    }
    return { survived: true };
  })
  .addEdge(START, 'crash')
  .addEdge('crash', END)
  .compile();

const Who = z.object({ uid: z.number().optional(), parent: z.string().optional() });

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? 'unreadable';
  }
}

/** Reports its user id, and what it can read of the process that started it. */
export const who = new StateGraph(Who)
  .addNode('look', () => ({ uid: process.getuid?.(), parent: read(`/proc/${process.ppid}/environ`) }))
  .addEdge(START, 'look')
  .addEdge('look', END)
  .compile();
