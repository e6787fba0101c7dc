import type * as SchemaLibrary from '@langchain/langgraph/zod/schema';
import { importForGraph } from './graph-library';

/** JSON schemas of a graph; null where the graph doesn't declare one (states that are not described by zod). */
export interface GraphSchemas {
  state: unknown;
  input: unknown;
  output: unknown;
  config: unknown;
}

const LIBRARY = '@langchain/langgraph/zod/schema';

/**
 * Input, state and output schemas of a graph. Uses the copy of the library that the graph was made with, since its registry has
 * the reducers, defaults and descriptions of a zod state.
 * @param file the graph's
 */
export async function schemasOf(graph: unknown, file: string): Promise<GraphSchemas> {
  const library =
    (await importForGraph<typeof SchemaLibrary>(graph, file, LIBRARY)) ??
    (await import('@langchain/langgraph/zod/schema'));
  const read = (schema: (graph: unknown) => unknown): unknown => {
    try {
      return schema(graph) ?? null;
    } catch {
      // JSON Schema can't describe a type of this state; the other schemas are still useful.
      return null;
    }
  };
  return {
    state: read(library.getStateTypeSchema),
    input: read(library.getInputTypeSchema),
    output: read(library.getOutputTypeSchema),
    config: read(library.getConfigTypeSchema),
  };
}
