import { Logger } from '@nestjs/common';
import { encryptionContext } from '../../database/at-rest';
import { ConfigError } from '../../config/config-error';
import { type GraphLanguage, LANGUAGE_NAMES } from '../../config/graph-language';
import { embeddingLanguage } from '../../config/store-settings';
import { PostgresUnreachable } from '../../database/lost-connections';
import type { GraphRegistry } from '../graph-registry';
import type { GraphHost } from './graph-host';
import type { ExecuteOptions } from './execution';
import { GraphCallRefused } from './graph-process.errors';
import { GraphsUnavailable } from './graphs-unavailable';
import type { ExecuteRequest, GraphCall, GraphCalls, GraphOutcome } from './protocol';

/** Runs graphs in one pool of processes for each language in langgraph.json. */
export class GraphHosts {
  private readonly logger = new Logger(GraphHosts.name);
  private started: Promise<Record<string, string>> | undefined;

  /** @param hosts one for each language of the registry's graphs */
  constructor(
    private readonly registry: GraphRegistry,
    private readonly hosts: ReadonlyMap<GraphLanguage, GraphHost>,
  ) {}

  /**
   * Starts the first processes. A graph that fails to load is reported in the log and left out.
   * @throws {ConfigError} naming each graph, when none can be served.
   */
  async start(): Promise<void> {
    const found = Object.entries(await this.problems()).map(([graphId, problem]) => `graphs.${graphId}: ${problem}`);
    if (found.length === this.registry.graphs.length) throw new ConfigError(found);
  }

  /** Why a graph can't be served; undefined when it can. */
  async problemOf(graphId: string): Promise<string | undefined> {
    return (await this.problems())[graphId];
  }

  /**
   * Runs a graph to its end. Rejects with ExecutionBroken when the process or the database failed, not the graph. A graph whose
   * language isn't served here fails at once: no other attempt would get further.
   */
  async execute(request: ExecuteRequest, options: ExecuteOptions): Promise<GraphOutcome> {
    try {
      return await this.hostOf(this.registry.languageOf(request.graphId)).execute(request, options);
    } catch (error) {
      if (!(error instanceof GraphsUnavailable)) throw error;
      return { status: 'error', error: { error: error.name, message: error.message } };
    }
  }

  /**
   * Calls the graph's code without running it. Resolves to JSON text; rejects with GraphCallRefused with the code's own error,
   * or with the reason why its language isn't served here, or with PostgresUnreachable.
   */
  call<N extends GraphCall>(name: N, args: GraphCalls[N]): Promise<string> {
    const language =
      'graphId' in args ? this.registry.languageOf(args.graphId) : embeddingLanguage(this.registry.config.store);
    return this.callWithContext(this.hostOf(language ?? 'javascript'), name, args);
  }

  /** An edit is encrypted with the context of the request that makes it. */
  private async callWithContext<N extends GraphCall>(host: GraphHost, name: N, args: GraphCalls[N]): Promise<string> {
    const context = await encryptionContext();
    try {
      return await host.call(name, context ? { ...args, encryptionContext: context } : args);
    } catch (error) {
      if (error instanceof GraphCallRefused && error.errorName === PostgresUnreachable.name)
        throw new PostgresUnreachable(error.message);
      if (!(error instanceof GraphsUnavailable)) throw error;
      throw new GraphCallRefused(error.message, error.name);
    }
  }

  /** Whether each use of the graph has the same one, not one that a function makes for it; false until a process has loaded it. */
  isFixed(graphId: string): boolean {
    return this.hosts.get(this.registry.languageOf(graphId))?.isFixed(graphId) ?? false;
  }

  /** Number of processes by state; a blocked one is busy with user code and doesn't answer. */
  census(): Record<'idle' | 'busy' | 'blocked', number> {
    const sum = { idle: 0, busy: 0, blocked: 0 };
    for (const host of this.hosts.values()) {
      const { idle, busy, blocked } = host.census();
      sum.idle += idle;
      sum.busy += busy;
      sum.blocked += blocked;
    }
    return sum;
  }

  async close(): Promise<void> {
    await Promise.all([...this.hosts.values()].map((host) => host.close()));
  }

  private hostOf(language: GraphLanguage): GraphHost {
    const host = this.hosts.get(language);
    if (!host) throw new Error(`This deployment has no graphs in ${LANGUAGE_NAMES[language]}`);
    return host;
  }

  /** The graphs that can't be served, of those that were loaded once. */
  private problems(): Promise<Record<string, string>> {
    this.started ??= this.bringUp();
    return this.started;
  }

  private async bringUp(): Promise<Record<string, string>> {
    const found = await Promise.all(
      [...this.hosts].map(([language, host]) => host.start().catch((error: unknown) => this.notAtAll(language, error))),
    );
    const problems = Object.fromEntries(found.flatMap((each) => Object.entries(each)));
    for (const [graphId, problem] of Object.entries(problems)) {
      this.logger.error(`A graph can't be served: graphs.${graphId}: ${problem}`);
    }
    return problems;
  }

  /** If the processes of one language don't start, only its graphs fail; the embedding function is needed by all. */
  private notAtAll(language: GraphLanguage, error: unknown): Record<string, string> {
    if (this.hosts.size === 1 || language === embeddingLanguage(this.registry.config.store)) throw error;
    const message = error instanceof Error ? error.message : String(error);
    const graphs = this.registry.graphs.filter((graph) => graph.language === language);
    return Object.fromEntries(graphs.map(({ graphId }) => [graphId, message]));
  }
}
