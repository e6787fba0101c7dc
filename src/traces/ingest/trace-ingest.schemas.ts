import { z } from 'zod';

/** Unknown fields are ignored, since clients of every version post here. The fields are read with their ranks. */
export const runBodySchema = z.record(z.string(), z.unknown());

export const runBatchSchema = z.object({
  post: z.array(runBodySchema).nullish(),
  patch: z.array(runBodySchema).nullish(),
});

export const runParamsSchema = z.object({ run_id: z.guid() });
