import type { RunnableConfig } from '@langchain/core/runnables';
import type { StateSnapshot } from '@langchain/langgraph';
import type { TenantId } from '../../database/tenant-id';
import type { ItemStore } from '../../item-store/item-store';
import type { GraphSource } from '../../config/langgraph-json';
import { CHECKPOINTER } from '../../patches/langgraph/graph-internals';
import type { EmbeddingFunction } from './embedding-function';
import { toCommand } from './graph-command';
import { CheckpointSaver } from './checkpoint-saver';
import type { AccessContext, AnyGraph, GraphLoader } from './graph-loader';
import type { CheckpointReference, GraphCall, GraphCalls, GraphTarget, StateOwner, StateQuery } from './protocol';
import { type GraphSchemas, schemasOf } from './graph-schemas';
import { RunStore } from './run-store';
import { selectedValues, selectFields } from './state-selection';
import type { Connections, TenantAccess } from './tenant-connections';
import { describeThrown } from './thrown-values';
import { interruptsByTask, toFinalState, toThreadState, waitingNodes } from './thread-state';
import { CompilerTooSlow, schemasFromTypes, type SchemasByPath } from './type-schemas';
import type { TypeSchemasCache } from './type-schemas-cache';
import { toWireJson } from './wire-json';

/** Answers requests of the api that don't run the graph: states, their history and edits, and its drawing. */
export class GraphCallHandler {
  /** Schemas by graph: the types of a module don't change while it is loaded. */
  private readonly typeSchemas = new Map<string, Promise<SchemasByPath>>();
  /** Graphs whose types the compiler was too slow to read. */
  private readonly slow: GraphSource[] = [];

  constructor(
    private readonly graphs: GraphLoader,
    private readonly connectionsOf: (access: TenantAccess) => Connections,
    private readonly storeOf: (access: TenantAccess) => ItemStore,
    private readonly embeddings: EmbeddingFunction | undefined,
    private readonly cache: TypeSchemasCache,
    private readonly warn: (message: string, fields: Record<string, unknown>) => void,
  ) {}

  /** Resolves to JSON text. */
  async handle(name: GraphCall, args: GraphCalls[GraphCall]): Promise<string> {
    switch (name) {
      case 'getState':
        return toWireJson(await this.getState(args as GraphCalls['getState']));
      case 'getFinalState':
        return toWireJson(await this.getFinalState(args as GraphCalls['getFinalState']));
      case 'getHistory':
        return toWireJson(await this.getHistory(args as GraphCalls['getHistory']));
      case 'updateState':
        return toWireJson(await this.updateState(args as GraphCalls['updateState']));
      case 'replaySupersteps':
        return toWireJson(await this.replaySupersteps(args as GraphCalls['replaySupersteps']));
      case 'getSchemas':
        return toWireJson(await this.getSchemas(args as GraphCalls['getSchemas']));
      case 'getFields':
        return toWireJson(await this.getFields(args as GraphCalls['getFields']));
      case 'getSubgraphs':
        return toWireJson(await this.getSubgraphs(args as GraphCalls['getSubgraphs']));
      case 'drawGraph':
        return toWireJson(await this.drawGraph(args as GraphCalls['drawGraph']));
      case 'embed':
        return JSON.stringify(await this.embed(args as GraphCalls['embed']));
    }
  }

  private async getState(args: GraphCalls['getState']) {
    const config = this.config(args, args.checkpoint);
    const graph = await within(await this.graph(args, 'threads.read', config), args);
    readOnly(config, graph, args.select);
    const snapshot: StateSnapshot = await graph.getState(config, { subgraphs: args.subgraphs ?? false });
    return selectFields(toThreadState(snapshot, saverOf(config).ended), args.select);
  }

  private async getFinalState(args: GraphCalls['getFinalState']) {
    const config = this.config(args);
    const graph = await this.graph(args, 'threads.read', config);
    return toFinalState(await graph.getState(config), saverOf(config).ended);
  }

  private async getHistory(args: GraphCalls['getHistory']) {
    const config = this.config(args, args.checkpoint);
    const graph = await within(await this.graph(args, 'threads.read', config), args);
    readOnly(config, graph, args.select);
    const options = {
      limit: args.limit,
      ...(args.before && { before: { configurable: args.before } }),
      ...(args.filter && { filter: args.filter }),
    };
    const states = [];
    for await (const snapshot of graph.getStateHistory(config, options)) {
      states.push(selectFields(toThreadState(snapshot, saverOf(config).ended), args.select));
    }
    return states;
  }

  /** The new checkpoint, and the part of the state that the thread's row stores. */
  private async updateState(args: GraphCalls['updateState']) {
    const config = this.config(args, args.checkpoint);
    const graph = await this.graph(args, 'threads.update', config);
    const written = await (await within(graph, args)).updateState(config, args.values, args.asNode);
    return this.edited(graph, args, written);
  }

  private async replaySupersteps(args: GraphCalls['replaySupersteps']) {
    const config = this.config(args);
    const graph = await this.graph(args, 'threads.update', config);
    const { file } = this.graphs.source(args.graphId)!;
    const supersteps = await Promise.all(
      args.supersteps.map(async (updates) => ({
        updates: await Promise.all(
          updates.map(async ({ asNode, values, command }) => ({
            asNode,
            values: command ? await toCommand(command, graph, file) : values,
          })),
        ),
      })),
    );
    const written = await graph.bulkUpdateState(config, supersteps);
    return this.edited(graph, args, written);
  }

  private async edited(graph: AnyGraph, owner: StateOwner, written: RunnableConfig) {
    const config = this.config(owner);
    const snapshot: StateSnapshot = await graph.getState(config);
    const { ended } = saverOf(config);
    return {
      checkpoint: written.configurable as Record<string, unknown>,
      values: snapshot.values as unknown,
      next: waitingNodes(snapshot, ended),
      interrupts: interruptsByTask(snapshot, ended),
    };
  }

  private async drawGraph({ xray, ...target }: GraphCalls['drawGraph']) {
    const graph = await this.graph(target, 'assistants.read');
    const drawable = await graph.getGraphAsync({ xray });
    return drawable.toJSON();
  }

  private async getSchemas(target: GraphCalls['getSchemas']) {
    const { graphId } = target;
    const schemas = await this.schemasAt(graphId, await this.graph(target, 'assistants.read'), '');
    return {
      graph_id: graphId,
      input_schema: schemas.input,
      output_schema: schemas.output,
      state_schema: schemas.state,
      config_schema: schemas.config,
      context_schema: schemas.config,
    };
  }

  private async getFields(target: GraphCalls['getFields']) {
    const { outputChannels } = await this.graph(target, 'assistants.read');
    return Array.isArray(outputChannels) ? outputChannels : [outputChannels];
  }

  /** Namespace → schemas, in the spellings of both servers. */
  private async getSubgraphs({ namespace, recurse, ...target }: GraphCalls['getSubgraphs']) {
    const graph = await this.graph(target, 'assistants.read');
    const subgraphs: Record<string, unknown> = {};
    for await (const [name, subgraph] of graph.getSubgraphsAsync(namespace, recurse)) {
      const { state, input, output, config } = await this.schemasAt(target.graphId, subgraph, name);
      const suffixed = { state_schema: state, input_schema: input, output_schema: output, config_schema: config };
      subgraphs[name] = { state, input, output, config, ...suffixed, context_schema: config };
    }
    return subgraphs;
  }

  private embed({ kind, texts }: GraphCalls['embed']): Promise<number[][]> {
    if (!this.embeddings) throw new Error('This deployment has no store.index');
    return this.embeddings.embed(kind, texts);
  }

  /** The schemas that the graph declares, or else those of its types; null for those that neither has. */
  private async schemasAt(graphId: string, graph: unknown, path: string): Promise<GraphSchemas> {
    const source = this.graphs.source(graphId)!;
    const own = await schemasOf(graph, source.file);
    if (own.state !== null || !hasTypes(source)) return own;
    const read = (await this.typesOf(source)).get(path);
    if (!read) return own;
    // A schema library may have no JSON Schema for one value of the state, and the schemas of the input and output nevertheless.
    return {
      state: read.state,
      input: own.input ?? read.input,
      output: own.output ?? read.output,
      config: own.config ?? read.config,
    };
  }

  /** Reads the types of graphs that don't declare their schemas, one by one, so that requests needn't wait for it. */
  async prepareSchemas(): Promise<void> {
    const undeclared: GraphSource[] = [];
    for (const { source, graph } of this.graphs.loaded()) {
      if (!hasTypes(source)) continue;
      if (!graph || (await schemasOf(graph, source.file)).state === null) undeclared.push(source);
    }
    for (const source of undeclared) await this.typesOf(source);
    // The compiler competes with other starts at first: what took it too long then is tried again.
    for (const source of this.slow.splice(0)) {
      this.typeSchemas.delete(source.graphId);
      await this.typesOf(source);
    }
  }

  private typesOf(source: GraphSource): Promise<SchemasByPath> {
    const { graphId } = source;
    let schemas = this.typeSchemas.get(graphId);
    if (!schemas) {
      schemas = schemasFromTypes(source, this.cache).catch((error: unknown): SchemasByPath => {
        const { message: reason } = describeThrown(error);
        this.warn('The schemas of a graph are unknown, since its types could not be read', {
          graph_id: graphId,
          reason,
        });
        if (error instanceof CompilerTooSlow) this.slow.push(source);
        return new Map();
      });
      this.typeSchemas.set(graphId, schemas);
    }
    return schemas;
  }

  /** @param state the config that its states are read with */
  private graph(target: GraphTarget, accessContext: AccessContext, state?: RunnableConfig): Promise<AnyGraph> {
    const { graphId, tenantId, config, context, metadata } = target;
    const { [CHECKPOINTER]: saver, ...place } = state?.configurable ?? {};
    return this.graphs.get(graphId, {
      accessContext,
      config: {
        ...config,
        configurable: { ...config.configurable, ...place },
        metadata: metadata ?? {},
        context: context ?? config.configurable ?? {},
        store: new RunStore(this.storeOf(target), tenantId as TenantId),
        checkpointer: saver,
      },
    });
  }

  private config(owner: StateOwner, checkpoint?: CheckpointReference): RunnableConfig {
    const { tenantId, threadId, graphId } = owner;
    // One saver per call, since the versions that it remembers belong to one branch.
    const saver = new CheckpointSaver(this.connectionsOf(owner), tenantId, this.graphs.source(graphId)?.file);
    return { configurable: { ...checkpoint, thread_id: threadId, [CHECKPOINTER]: saver } };
  }
}

const saverOf = ({ configurable }: RunnableConfig): CheckpointSaver => configurable![CHECKPOINTER] as CheckpointSaver;

/** Restricts the values that are read to the selected ones, if the graph has values by name. */
function readOnly(config: RunnableConfig, graph: AnyGraph, select: string[] | undefined): void {
  const keys = selectedValues(select);
  if (keys && Array.isArray(graph.streamChannels)) saverOf(config).readOnly(keys);
}

/** The graph of a reference: the nested one that its namespace leads to, or the root. */
async function within(graph: AnyGraph, { graphId, checkpoint }: StateQuery): Promise<AnyGraph> {
  const path = nodePath(checkpoint?.checkpoint_ns ?? '');
  if (path === '') return graph;
  for await (const [name, subgraph] of graph.getSubgraphsAsync(path, true)) {
    if (name === path) return subgraph as AnyGraph;
  }
  throw new Error(`Graph "${graphId}" has no subgraph at "${path}"`);
}

/** `middle:<task>|1|deepest:<task>` → `middle|deepest`: the nodes that a namespace passes, without tasks and positions. */
function nodePath(namespace: string): string {
  return namespace
    .split('|')
    .filter((part) => !/^\d+$/.test(part))
    .map((part) => part.split(':')[0])
    .join('|');
}

/** Plain JavaScript has no types that the compiler could read; it would take seconds to find that out. */
const hasTypes = ({ file }: GraphSource): boolean => !/\.[cm]?js$/.test(file);
