import type { CompiledGraph } from '@langchain/langgraph';
import type { GraphSource } from '../../config/langgraph-json';
import { checkLibraryVersions } from './library-versions';
import { loadAdvice } from './load-advice';
import { preloadGraphLibraries } from './project-libraries';
import type { LoadedGraphs } from './protocol';
import { describeThrown } from './thrown-values';
import { importExport } from './user-module';

/** A compiled graph of whatever state: node names and state types are the user's. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type AnyGraph = CompiledGraph<string, any, any, Record<string, any>, any, any>;

/** First argument of a function that makes a graph. */
export interface FactoryConfig {
  configurable: Record<string, unknown>;
  metadata: Record<string, unknown>;
  context: Record<string, unknown>;
  store: unknown;
  /** Absent where no thread is concerned. */
  checkpointer: unknown;
  tags?: string[];
  recursion_limit?: number;
  max_concurrency?: number;
  run_name?: string;
}

/** Purpose of the graph, in the terms of the public servers. */
export type AccessContext = 'threads.create_run' | 'threads.read' | 'threads.update' | 'assistants.read';

/** Second argument of a function that makes a graph. */
export interface FactoryRuntime {
  accessContext: AccessContext;
  /** Null where no node will run. */
  executionRuntime: { context: Record<string, unknown> } | null;
}

type GraphFactory = (config: FactoryConfig, runtime: FactoryRuntime) => unknown;

/** A use of a graph; a function that makes graphs is called for each. */
export interface GraphUse {
  accessContext: AccessContext;
  config: FactoryConfig;
}

const WHAT_WOULD_BE_RIGHT =
  'a compiled graph, a StateGraph, an agent of createAgent or createDeepAgent, or a function that returns one of these';

/** The graphs of a langgraph.json, loaded into this thread. */
export class GraphLoader {
  private readonly graphs = new Map<string, AnyGraph | GraphFactory>();
  private readonly problems = new Map<string, string>();

  constructor(private readonly sources: GraphSource[]) {}

  /** Imports every module; resolves to one sentence by graph for each that can't be served, beside the factories. The others are. */
  async load(): Promise<LoadedGraphs> {
    await preloadGraphLibraries(this.sources.map(({ file }) => file));
    for (const source of this.sources) {
      try {
        this.graphs.set(source.graphId, await loadGraph(source));
      } catch (error) {
        this.problems.set(source.graphId, describeThrown(error).message);
      }
    }
    const factories = this.loaded().filter(({ graph }) => !graph);
    return { problems: Object.fromEntries(this.problems), factories: factories.map(({ source }) => source.graphId) };
  }

  /** The served graphs; without the graph itself if a function makes it for each use. */
  loaded(): { source: GraphSource; graph: AnyGraph | undefined }[] {
    return [...this.graphs].map(([graphId, graph]) => ({
      source: this.source(graphId)!,
      graph: typeof graph === 'function' ? undefined : graph,
    }));
  }

  source(graphId: string): GraphSource | undefined {
    return this.sources.find((source) => source.graphId === graphId);
  }

  /** The graph for one use. A function that makes it is called each time. */
  async get(graphId: string, { accessContext, config }: GraphUse): Promise<AnyGraph> {
    const graph = this.graphs.get(graphId);
    if (!graph) throw new Error(this.problems.get(graphId) ?? `Graph "${graphId}" is not served here`);
    if (typeof graph !== 'function') return graph;
    const executionRuntime = accessContext === 'threads.create_run' ? { context: config.context } : null;
    const made = await graph(config, { accessContext, executionRuntime });
    return compiled(made) ?? refuse(this.source(graphId)!, `returned ${kindOf(made)}`);
  }
}

/** The export of a module for a graph, awaited and compiled. */
async function loadGraph(source: GraphSource): Promise<AnyGraph | GraphFactory> {
  const { file, exportName } = source;
  checkLibraryVersions(file);
  let exported: unknown;
  try {
    exported = await importExport(source);
  } catch (error) {
    const { message } = describeThrown(error);
    throw new Error(`${file} failed to load: ${message}${loadAdvice(file, error)}`, { cause: error });
  }
  if (exported === undefined)
    throw new Error(`${file} has no export "${exportName}"; it has to be ${WHAT_WOULD_BE_RIGHT}`);
  if (isFactory(exported)) return exported;
  return compiled(exported) ?? refuse(source, `is ${kindOf(exported)}`);
}

function refuse({ file, exportName }: GraphSource, what: string): never {
  throw new Error(`${file}: "${exportName}" ${what}; it has to be ${WHAT_WOULD_BE_RIGHT}`);
}

/** The compiled graph of an exported value; undefined if the value is no graph. */
function compiled(value: unknown): AnyGraph | undefined {
  if (isGraph(value)) return withCheckpoints(value);
  if (typeof value !== 'object' || value === null) return undefined;
  // An agent of createAgent wraps its graph; its methods would change inputs and outputs.
  if ('graph' in value && isGraph(value.graph)) return withCheckpoints(value.graph);
  return 'compile' in value && typeof value.compile === 'function'
    ? compiled((value as { compile(): unknown }).compile())
    : undefined;
}

/**
 * The graph, or a copy of it that accepts the saver of a run where the graph was compiled with `checkpointer: false`. The graph
 * itself stays as it is: it may be a node of another one, in which it is to keep no checkpoints.
 */
function withCheckpoints(graph: AnyGraph): AnyGraph {
  if (graph.checkpointer !== false) return graph;
  const copy = graph.withConfig({}) as AnyGraph;
  copy.checkpointer = undefined;
  return copy;
}

// Duck-typed: the user's project brings its own copy of the library.
function isGraph(value: unknown): value is AnyGraph {
  if (typeof value !== 'object' || value === null) return false;
  const { nodes, channels, streamEvents } = value as Partial<AnyGraph>;
  return isObject(nodes) && isObject(channels) && typeof streamEvents === 'function' && 'getState' in value;
}

function isFactory(value: unknown): value is GraphFactory {
  return typeof value === 'function';
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** Describes the kind of an exported value, for an error message. */
function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value !== 'object') return `a ${typeof value}`;
  const name = (value.constructor as { name?: string } | undefined)?.name;
  return name && name !== 'Object' ? `an instance of ${name}` : 'an object that is not a graph';
}
