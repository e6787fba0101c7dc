import type { CompiledGraph } from '@langchain/langgraph';
import type { GraphSource } from '../graph-config';
import { preloadGraphLibraries } from './project-libraries';
import { importExport } from './user-module';

/** A compiled graph of whatever state: node names and state types are the user's. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyGraph = CompiledGraph<string, any, any, Record<string, any>, any, any>;

export interface FactoryConfig {
  configurable: Record<string, unknown>;
}
type GraphFactory = (config?: FactoryConfig) => unknown;

/** What a module exported under a graph's name: a graph, its builder, or a function that makes either. */
type GraphExport = AnyGraph | { compile(): AnyGraph } | GraphFactory;

/** The graphs of a langgraph.json, loaded into this thread. */
export class GraphLoader {
  private readonly exports = new Map<string, GraphExport>();
  private readonly compiled = new Map<string, Promise<AnyGraph>>();
  private readonly problems = new Map<string, string>();

  constructor(private readonly sources: GraphSource[]) {}

  /** Imports every module; resolves to one sentence by graph for each that can't be served. The others are. */
  async load(): Promise<Record<string, string>> {
    await preloadGraphLibraries(this.sources.map(({ file }) => file));
    for (const { graphId, file, exportName } of this.sources) {
      try {
        const exported = (await importExport({ file, exportName })) as GraphExport | undefined;
        if (exported === undefined) {
          this.problems.set(graphId, `${file} has no export "${exportName}"`);
        } else if (!isGraph(exported) && !isBuilder(exported) && typeof exported !== 'function') {
          this.problems.set(graphId, `${file}: "${exportName}" is neither a graph nor a function that makes one`);
        } else {
          this.exports.set(graphId, exported);
        }
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        this.problems.set(graphId, `${file} failed to load: ${message}`);
      }
    }
    return Object.fromEntries(this.problems);
  }

  source(graphId: string): GraphSource | undefined {
    return this.sources.find((source) => source.graphId === graphId);
  }

  /** The graph for one use. A function that takes a config is asked each time, anything else is made once. */
  get(graphId: string, config: FactoryConfig): Promise<AnyGraph> {
    const exported = this.exports.get(graphId);
    if (!exported) {
      return Promise.reject(new Error(this.problems.get(graphId) ?? `Graph "${graphId}" is not served here`));
    }
    if (typeof exported === 'function' && exported.length > 0) return compile(exported(config));
    const known = this.compiled.get(graphId);
    if (known) return known;
    const graph = compile(typeof exported === 'function' ? exported() : exported);
    this.compiled.set(graphId, graph);
    graph.catch(() => this.compiled.delete(graphId));
    return graph;
  }
}

async function compile(made: unknown): Promise<AnyGraph> {
  const graph = await made;
  if (isGraph(graph)) return graph;
  if (isBuilder(graph)) return graph.compile();
  throw new Error('The graph function returned neither a compiled graph nor a builder');
}

// Duck-typed: the user's project may bring its own copy of the library.
function isGraph(value: unknown): value is AnyGraph {
  return typeof value === 'object' && value !== null && 'streamEvents' in value && 'getState' in value;
}

function isBuilder(value: unknown): value is { compile(): AnyGraph } {
  return typeof value === 'object' && value !== null && 'compile' in value && typeof value.compile === 'function';
}
