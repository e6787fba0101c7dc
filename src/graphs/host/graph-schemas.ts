/** JSON schemas of a graph; null where the graph doesn't declare one (states that are not described by zod). */
export interface GraphSchemas {
  state: unknown;
  input: unknown;
  output: unknown;
  config: unknown;
}

/**
 * What a graph takes, keeps and gives. Asks the copy of the library that ES modules get, since the registry that holds a
 * zod state's reducers and defaults belongs to the copy that the graph was made with.
 */
export async function schemasOf(graph: unknown): Promise<GraphSchemas> {
  const library = await import('@langchain/langgraph/zod/schema');
  const read = (schema: (graph: unknown) => unknown): unknown => {
    try {
      return schema(graph) ?? null;
    } catch {
      // A state with a type that JSON Schema can't describe: the other schemas are still worth having.
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
