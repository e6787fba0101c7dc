import type { StateSnapshot } from '@langchain/langgraph';
import { pick } from '../../database/json';
import { CHECKPOINTER } from '../../patches/langgraph/graph-internals';
import type { AnyGraph } from './graph-loader';
import type { ExecuteRequest, RunEventMessage } from './protocol';
import type { StreamConfig } from './run-stream';
import { toWireJson } from './wire-json';

type Task = StateSnapshot['tasks'][number];
type Channels = string | string[];

const EMITTED_BY_STEP = ['values', 'updates', 'tasks'];

/**
 * Events of committed steps that earlier attempts of the run were killed before emitting: `values`, `updates` and the ends
 * among the `tasks` of finished steps, oldest first. Leaves out the step that the run is at, with which LangGraph itself
 * begins, nested graphs, and events that no checkpoint keeps: tokens, `custom`, `events`.
 */
export async function findMissingEvents(
  graph: AnyGraph,
  config: StreamConfig,
  { runId, threadId, kwargs, emitted }: ExecuteRequest,
): Promise<RunEventMessage[]> {
  const facts = new Set(emitted.facts);
  const asked = new Set<string>(kwargs.stream_mode);
  if (!EMITTED_BY_STEP.some((mode) => asked.has(mode))) return [];
  const saver: unknown = config.configurable?.[CHECKPOINTER];
  const missingEvents: RunEventMessage[] = [];
  let step: StateSnapshot = await graph.getState({
    configurable: { thread_id: threadId, [CHECKPOINTER]: saver },
  });
  while (step.parentConfig && isStepOf(step, runId)) {
    const before: StateSnapshot = await graph.getState({
      configurable: { ...step.parentConfig.configurable, [CHECKPOINTER]: saver },
    });
    if (!isOf(before, runId)) break;
    const tasks = before.tasks.filter(({ name, error }) => error === undefined && !isHidden(graph, name));
    const events = [
      ...(isStepOf(before, runId) ? valuesEvent(graph, before) : []),
      ...tasks.flatMap((task) => endEvents(graph, task)),
    ];
    const missing = events.filter(({ event, fact }) => !facts.has(`${event} ${fact}`));
    missingEvents.unshift(...missing.filter(({ event }) => asked.has(event)));
    // Events are emitted in order: before a step that was emitted, nothing is missing.
    if (missing.length < events.length) break;
    step = before;
  }
  return missingEvents;
}

const isOf = ({ metadata }: StateSnapshot, runId: string): boolean =>
  (metadata as { run_id?: string } | undefined)?.run_id === runId;

/** Whether nodes of the run made the checkpoint; others hold its input, or an edit. */
const isStepOf = (snapshot: StateSnapshot, runId: string): boolean =>
  isOf(snapshot, runId) && snapshot.metadata?.source === 'loop';

function isHidden(graph: AnyGraph, node: string): boolean {
  const { tags } = (graph.nodes as Record<string, { tags?: string[] } | undefined>)[node] ?? {};
  return tags?.includes('langsmith:hidden') ?? false;
}

function valuesEvent(graph: AnyGraph, { values, config }: StateSnapshot): RunEventMessage[] {
  const channels = graph.outputChannels as Channels;
  const shown = Array.isArray(channels) ? pick(values as Record<string, unknown>, channels) : (values as unknown);
  return [{ event: 'values', data: toWireJson(shown), fact: config.configurable?.checkpoint_id as string }];
}

/** A task of a finished step is finished, also when it wrote nothing that is shown. */
function endEvents(graph: AnyGraph, { id, name, result }: Task): RunEventMessage[] {
  const end = { id, name, result: result ?? {}, interrupts: [] };
  return [
    { event: 'updates', data: toWireJson({ [name]: updateOf(graph.outputChannels as Channels, result) }), fact: id },
    { event: 'tasks', data: toWireJson(end), fact: id },
  ];
}

/** The shape that the library gives a node's update: a list where the node wrote a channel several times. */
function updateOf(channels: Channels, result: unknown): unknown {
  if (!Array.isArray(channels)) return result;
  const writes = pick((result ?? {}) as Record<string, unknown>, channels);
  if (!Object.values(writes).some(isSeveral)) return writes;
  return Object.entries(writes).flatMap(([channel, value]) =>
    (isSeveral(value) ? value.$writes : [value]).map((write) => ({ [channel]: write })),
  );
}

function isSeveral(value: unknown): value is { $writes: unknown[] } {
  return typeof value === 'object' && value !== null && '$writes' in value && Array.isArray(value.$writes);
}
