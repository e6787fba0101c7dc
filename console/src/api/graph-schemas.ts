import { queryOptions } from '@tanstack/react-query';
import type { JsonSchema } from '../ui/json-schema';
import { sdk } from './sdk';

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
