import { Injectable } from '@nestjs/common';
import { v5 as uuidv5 } from 'uuid';
import { AppConfig } from '../config/config';
import type { GraphLanguage } from '../config/graph-language';
import type { GraphMcp } from '../config/graph-mcp';
import type { ThreadTtlSettings } from '../config/thread-ttl';
import { graphRevision } from './graph-revision';
import type { GraphSource, LanggraphJson, OnUnknown } from '../config/langgraph-json';

/** The namespace in which LangGraph servers derive the ids of default assistants. */
const ASSISTANT_NAMESPACE = '6ba7b821-9dad-11d1-80b4-00c04fd430c8';

/** The graphs that this deployment serves, as langgraph.json names them. */
@Injectable()
export class GraphRegistry {
  readonly config: LanggraphJson;
  /** Revision of the graphs' code: GANTRY_REVISION, or a hash of the code. Each run carries the one that it ran on. */
  readonly revision: string;
  /** Time to live of unused threads: LANGGRAPH_THREAD_TTL, or else the setting of langgraph.json. */
  readonly threadTtl: ThreadTtlSettings;
  /** Whether runs are traced, each into the project named after its graph unless its request names another. */
  readonly isTracing: boolean;
  /** Whether a graph is written in Python. */
  readonly hasPython: boolean;
  private readonly byId: Map<string, GraphSource>;
  private readonly systemAssistantIds: Set<string>;

  constructor(config: AppConfig) {
    this.config = config.langgraphJson;
    this.revision =
      config.graphs.revision ??
      graphRevision(
        this.config.path,
        this.config.graphs.map(({ file }) => file),
      );
    this.isTracing = config.traces.ownRuns;
    this.threadTtl = config.graphs.threadTtl ?? this.config.threadTtl;
    this.hasPython = this.config.graphs.some(({ language }) => language === 'python');
    this.byId = new Map(this.config.graphs.map((graph) => [graph.graphId, graph]));
    this.systemAssistantIds = new Set(this.config.graphs.map(({ graphId }) => this.systemAssistantId(graphId)));
  }

  get graphs(): GraphSource[] {
    return this.config.graphs;
  }

  get graphIds(): string[] {
    return [...this.byId.keys()];
  }

  has(graphId: string): boolean {
    return this.byId.has(graphId);
  }

  /** The language of a graph; for an unknown graph, that of most graphs. */
  languageOf(graphId: string): GraphLanguage {
    return this.byId.get(graphId)?.language ?? 'javascript';
  }

  /** How langgraph.json has the graph as a tool. */
  mcpOf(graphId: string): GraphMcp {
    return this.byId.get(graphId)?.mcp ?? {};
  }

  onUnknown(graphId: string): OnUnknown {
    return this.byId.get(graphId)?.onUnknown ?? 'retry';
  }

  /** The same on every deployment and in every tenant: clients may hard-code it. */
  systemAssistantId(graphId: string): string {
    return uuidv5(graphId, ASSISTANT_NAMESPACE);
  }

  /** Whether the id is that of a served graph's default assistant, whichever graph that assistant runs now. */
  isSystemAssistant(assistantId: string): boolean {
    return this.systemAssistantIds.has(assistantId);
  }
}
