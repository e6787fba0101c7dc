import { z } from 'zod';
import { nullAsAbsent, withoutReservedKeys, withoutReservedMetadata } from './reserved-keys';

export const jsonObject = z.record(z.string(), z.unknown());

/** Static values of graph code, and what describes a record: never with keys that the server itself writes. */
export const contextSchema = jsonObject.transform(withoutReservedKeys);
export const metadataSchema = jsonObject.transform((metadata) => withoutReservedMetadata(metadata));

const configFields = z.looseObject({
  tags: z.array(z.string()).optional(),
  recursion_limit: z.number().int().positive().optional(),
  max_concurrency: z.number().int().positive().optional(),
  run_name: z.string().optional(),
  configurable: contextSchema.optional(),
  metadata: metadataSchema.optional(),
});
export const configSchema = nullAsAbsent(configFields);
/** A config that brings the context along, under a key of its own. */
export const configWithContextSchema = nullAsAbsent(configFields.extend({ context: contextSchema.default({}) }));
