import { z } from 'zod';
import { jsonObject } from '../runnable-config/runnable-config.schemas';
import { queryFlag } from '../http/query';

/** Which labels there may be is the store's own rule, since graph code meets it as well. */
const labels = z.array(z.string()).max(1000);
const offset = z.number().int().min(0).default(0);
/** 0 finds nothing. */
const limit = z.number().int().min(0).max(1000);

export const putItemSchema = z.object({
  namespace: labels.describe('Labels from the root down, without periods'),
  key: z.string(),
  value: jsonObject,
  index: z
    .union([z.literal(false), z.array(z.string().min(1)).max(100)])
    .optional()
    .describe('Paths of the value to embed; false embeds nothing; the fields of store.index when absent'),
  ttl: z
    .number()
    .positive()
    .nullable()
    .optional()
    .describe('Minutes to live, fractions too; null for ever; store.ttl.default_ttl when absent'),
});
export type PutItem = z.infer<typeof putItemSchema>;

/** Labels joined by periods, or the parameter repeated for each label. */
const dottedNamespace = z
  .union([z.string(), z.array(z.string())])
  .transform((given) => (Array.isArray(given) ? given : given.split('.')));

export const getItemQuery = z.object({ namespace: dottedNamespace, refresh_ttl: queryFlag });
export type GetItem = z.infer<typeof getItemQuery>;
/** Apart from the others: of those an empty one counts as absent, while the empty text is a key like any other. */
export const keyQuery = z.string('key: must be given, once');

export const deleteItemSchema = z.object({ namespace: labels, key: z.string() });
export type DeleteItem = z.infer<typeof deleteItemSchema>;

export const searchItemsSchema = z.object({
  namespace_prefix: labels.optional(),
  filter: jsonObject.optional(),
  limit: limit.default(10),
  offset,
  query: z.string().max(100_000).optional(),
  refresh_ttl: z.boolean().optional(),
});
export type SearchItems = z.infer<typeof searchItemsSchema>;

export const listNamespacesSchema = z.object({
  prefix: labels.optional(),
  suffix: labels.optional(),
  max_depth: z.number().int().min(1).max(1000).optional(),
  limit: limit.default(100),
  offset,
});
export type ListNamespaces = z.infer<typeof listNamespacesSchema>;

const item = {
  namespace: z.array(z.string()),
  key: z.string(),
  value: jsonObject,
  created_at: z.string(),
  updated_at: z.string(),
};
export const itemSchema = z.object(item).meta({ id: 'Item' });
export type Item = z.infer<typeof itemSchema>;

export const foundItemsSchema = z
  .object({
    items: z.array(
      z
        .object({ ...item, score: z.number().nullable().describe('Cosine similarity to the query') })
        .meta({ id: 'SearchItem' }),
    ),
  })
  .meta({ id: 'FoundItems' });
export type FoundItems = z.infer<typeof foundItemsSchema>;

export const namespacesSchema = z.object({ namespaces: z.array(z.array(z.string())) }).meta({ id: 'Namespaces' });
export type Namespaces = z.infer<typeof namespacesSchema>;
