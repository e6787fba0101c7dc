import { z } from 'zod';

const flag = z.boolean().default(false);

export const truncateSchema = z.object({
  runs: flag.describe('Runs with their events; those in flight are stopped'),
  threads: flag.describe('Threads with their runs, their events and their checkpoints'),
  assistants: flag.describe('Assistants with their versions, but the default ones of the graphs'),
  checkpointer: flag.describe('Checkpoints, their writes and values; runs in flight are interrupted'),
  store: flag.describe('Items of the store'),
});
export type Truncate = z.output<typeof truncateSchema>;

export const truncatedSchema = z.object({ ok: z.literal(true) });
export type Truncated = z.output<typeof truncatedSchema>;
