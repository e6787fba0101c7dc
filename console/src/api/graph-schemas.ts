import { queryOptions } from '@tanstack/react-query';
import { sdk } from './sdk';

/** The part of JSON Schema that a form can show; fields of any other kind are edited as JSON. */
export interface JsonSchema {
  $ref?: string;
  $defs?: Record<string, JsonSchema>;
  definitions?: Record<string, JsonSchema>;
  type?: string | string[];
  title?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  allOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  format?: string;
  minimum?: number;
  maximum?: number;
}

/**
 * JSON Schemas of an assistant's graph. They are the same for all versions of the assistant, and it may take the server a while to read
 * them from the types of the graph.
 */
export const schemasQuery = (assistantId: string) =>
  queryOptions({
    queryKey: ['schemas', assistantId],
    queryFn: async () => (await sdk.assistants.getSchemas(assistantId)) as unknown as Record<string, JsonSchema | null>,
    staleTime: 60_000,
  });
