import { z } from 'zod';
import { pageSchema } from '../http/pagination';
import { queryFlag } from '../http/query';
import { uuid } from '../http/uuid';
import { configSchema, contextSchema, jsonObject, metadataSchema } from '../runnable-config/runnable-config.schemas';

/** An assistant's id is a UUID; wherever one is expected, the name of a graph stands for its default assistant. */
export const assistantIdParam = z.object({ assistant_id: z.string().min(1) });

const ASSISTANT_FIELDS = [
  'assistant_id',
  'graph_id',
  'name',
  'description',
  'config',
  'context',
  'created_at',
  'updated_at',
  'metadata',
  'version',
] as const;

export const assistantSchema = z
  .object({
    assistant_id: z.guid(),
    graph_id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    config: jsonObject,
    context: jsonObject,
    metadata: jsonObject,
    version: z.number().int(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: 'Assistant' });
export type Assistant = z.infer<typeof assistantSchema>;
export const assistantVersionSchema = assistantSchema.omit({ updated_at: true }).meta({ id: 'AssistantVersion' });
export type AssistantVersion = z.infer<typeof assistantVersionSchema>;

const jsonSchema = jsonObject.nullable();

export const graphDrawingSchema = z.object({ nodes: z.array(jsonObject), edges: z.array(jsonObject) });

export const graphSchemasSchema = z
  .object({
    graph_id: z.string(),
    input_schema: jsonSchema,
    output_schema: jsonSchema,
    state_schema: jsonSchema,
    config_schema: jsonSchema,
    context_schema: jsonSchema,
  })
  .meta({ id: 'GraphSchemas' });

/** Namespace → schemas. */
export const subgraphsSchema = z.record(z.string(), z.record(z.string(), jsonSchema));

export const createAssistantSchema = z.object({
  graph_id: z.string().min(1),
  assistant_id: uuid.optional(),
  config: configSchema.optional(),
  context: contextSchema.optional(),
  metadata: metadataSchema.optional(),
  if_exists: z.enum(['raise', 'do_nothing']).default('raise'),
  name: z.string().optional(),
  description: z.string().optional(),
});
export type CreateAssistant = z.infer<typeof createAssistantSchema>;

export const patchAssistantSchema = z.object({
  graph_id: z.string().min(1).optional(),
  config: configSchema.optional(),
  context: contextSchema.optional(),
  metadata: metadataSchema.optional(),
  name: z.string().optional(),
  description: z.string().optional(),
});
export type PatchAssistant = z.infer<typeof patchAssistantSchema>;

const assistantFilter = {
  metadata: jsonObject.optional(),
  graph_id: z.string().optional(),
  name: z.string().optional(),
};

export const countAssistantsSchema = z.object(assistantFilter);
export type AssistantFilter = z.infer<typeof countAssistantsSchema>;

export const searchAssistantsSchema = z.object({
  ...assistantFilter,
  ...pageSchema,
  sort_by: z.enum(['assistant_id', 'created_at', 'updated_at', 'name', 'graph_id']).default('created_at'),
  sort_order: z.enum(['asc', 'desc']).default('desc'),
  select: z.array(z.enum(ASSISTANT_FIELDS)).optional(),
});
export type SearchAssistants = z.infer<typeof searchAssistantsSchema>;

export const searchVersionsSchema = z.object({ metadata: jsonObject.optional(), ...pageSchema });
export type SearchVersions = z.infer<typeof searchVersionsSchema>;

export const setLatestSchema = z.object({ version: z.int32() });

export const subgraphParam = z.object({ assistant_id: z.string().min(1), namespace: z.string().min(1) });
export const deleteQuery = z.object({ delete_threads: queryFlag });
export const recurseQuery = z.object({ recurse: queryFlag });

export const xrayQuery = z.object({
  xray: z
    .string()
    .transform((value, context) => {
      if (['true', 'false', 'yes', 'no'].includes(value.toLowerCase()))
        return ['true', 'yes'].includes(value.toLowerCase());
      const depth = Number(value);
      if (Number.isInteger(depth) && depth >= 0) return depth === 0 ? false : depth;
      context.addIssue({ code: 'custom', message: 'must be true, false or a depth of 1 or more' });
      return z.NEVER;
    })
    .optional(),
});
