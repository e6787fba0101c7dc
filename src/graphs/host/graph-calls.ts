import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import type { StateSnapshot } from '@langchain/langgraph';
import type { Pool } from 'pg';
import { CHECKPOINT_SCHEMA } from '../../database/schemas';
import type { AnyGraph, GraphLoader } from './graph-loader';
import type { CheckpointReference, GraphCall, GraphCalls } from './protocol';
import { schemasOf } from './graph-schemas';
import { interruptsByTask, toFinalState, toThreadState } from './thread-state';
import { toWireJson } from './wire-json';

/** What the api process asks of a graph without running it: states, their history and edits, and its drawing. */
export class GraphCallHandler {
  private readonly saver: PostgresSaver;

  constructor(
    private readonly graphs: GraphLoader,
    connections: Pool,
  ) {
    this.saver = new PostgresSaver(connections, undefined, { schema: CHECKPOINT_SCHEMA });
  }

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
      case 'getSchemas':
        return toWireJson(await this.getSchemas(args));
      case 'getSubgraphs':
        return toWireJson(await this.getSubgraphs(args as GraphCalls['getSubgraphs']));
      case 'drawGraph':
        return toWireJson(await this.drawGraph(args as GraphCalls['drawGraph']));
    }
  }

  private async getState({ graphId, threadId, checkpoint, subgraphs }: GraphCalls['getState']) {
    const graph = await this.graph(graphId);
    const snapshot: StateSnapshot = await graph.getState(this.config(threadId, checkpoint), {
      subgraphs: subgraphs ?? false,
    });
    return toThreadState(snapshot);
  }

  private async getFinalState({ graphId, threadId }: GraphCalls['getFinalState']) {
    const graph = await this.graph(graphId);
    return toFinalState(await graph.getState(this.config(threadId)));
  }

  private async getHistory(args: GraphCalls['getHistory']) {
    const graph = await this.graph(args.graphId);
    const options = {
      limit: args.limit,
      ...(args.before && { before: { configurable: args.before } }),
      ...(args.metadata && { filter: args.metadata }),
    };
    const states = [];
    for await (const snapshot of graph.getStateHistory(this.config(args.threadId, args.checkpoint), options)) {
      states.push(toThreadState(snapshot));
    }
    return states;
  }

  /** The new checkpoint, and what the thread's row keeps of the state. */
  private async updateState({ graphId, threadId, checkpoint, values, asNode }: GraphCalls['updateState']) {
    const graph = await this.graph(graphId);
    const written = await graph.updateState(this.config(threadId, checkpoint), values, asNode);
    const snapshot: StateSnapshot = await graph.getState(this.config(threadId));
    return {
      checkpoint: written.configurable as Record<string, unknown>,
      values: snapshot.values as unknown,
      next: snapshot.next,
      interrupts: interruptsByTask(snapshot),
    };
  }

  private async drawGraph({ graphId, xray }: GraphCalls['drawGraph']) {
    const graph = await this.graph(graphId);
    const drawable = await graph.getGraphAsync({ xray });
    return drawable.toJSON();
  }

  private async getSchemas({ graphId }: GraphCalls['getSchemas']) {
    const schemas = await schemasOf(await this.graph(graphId));
    return {
      graph_id: graphId,
      input_schema: schemas.input,
      output_schema: schemas.output,
      state_schema: schemas.state,
      config_schema: schemas.config,
      context_schema: schemas.config,
    };
  }

  /** Namespace → schemas, in the two spellings that clients of either server read. */
  private async getSubgraphs({ graphId, namespace, recurse }: GraphCalls['getSubgraphs']) {
    const graph = await this.graph(graphId);
    const subgraphs: Record<string, unknown> = {};
    for await (const [name, subgraph] of graph.getSubgraphsAsync(namespace, recurse)) {
      const { state, input, output, config } = await schemasOf(subgraph);
      const suffixed = { state_schema: state, input_schema: input, output_schema: output, config_schema: config };
      subgraphs[name] = { state, input, output, config, ...suffixed, context_schema: config };
    }
    return subgraphs;
  }

  private graph(graphId: string): Promise<AnyGraph> {
    return this.graphs.get(graphId, { configurable: {} });
  }

  private config(threadId: string, checkpoint?: CheckpointReference) {
    return {
      configurable: { ...checkpoint, thread_id: threadId, __pregel_checkpointer: this.saver },
    };
  }
}
