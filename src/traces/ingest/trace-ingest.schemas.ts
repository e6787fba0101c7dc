import { z } from 'zod';

/** Unknown fields are taken and ignored: clients of every version post here. The fields are read with their ranks. */
export const runBodySchema = z.record(z.string(), z.unknown());
export type RunBody = z.output<typeof runBodySchema>;

export const runBatchSchema = z.object({
  post: z.array(runBodySchema).optional(),
  patch: z.array(runBodySchema).optional(),
});
export type RunBatch = z.output<typeof runBatchSchema>;

export const runParamsSchema = z.object({ run_id: z.guid() });
