import type { RunnableConfig } from '@langchain/core/runnables';
import { checkpointOf, taskCheckpointOf } from './checkpoint-reference';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** Keys of a `configurable` that identify a checkpoint. All others are for the graph: keys, headers, its user. */
const PUBLIC_CONFIGURABLE = [
  'thread_id',
  'checkpoint_ns',
  'checkpoint_id',
  'checkpoint_map',
  'run_id',
  'graph_id',
  'assistant_id',
];

function publicConfig(config: unknown): unknown {
  if (!isObject(config) || !isObject(config.configurable)) return config ?? null;
  const { callbacks: _, configurable, ...rest } = config;
  const shown = PUBLIC_CONFIGURABLE.filter((key) => configurable[key] !== undefined);
  return { ...rest, configurable: Object.fromEntries(shown.map((key) => [key, configurable[key]])) };
}

/** A task of a checkpoint: for one that runs a nested graph, `checkpoint` says where that graph's state is. */
function publicTask(task: unknown): unknown {
  if (!isObject(task) || !isObject(task.state)) return task;
  const { state, ...rest } = task;
  return { ...rest, checkpoint: taskCheckpointOf(state) };
}

/** A checkpoint as the modes `checkpoints` and `debug` emit it. */
function publicCheckpoint({ config, parentConfig, tasks, ...rest }: Json): Json {
  return {
    config: publicConfig(config),
    parent_config: publicConfig(parentConfig),
    ...rest,
    checkpoint: checkpointOf(config as RunnableConfig | undefined),
    parent_checkpoint: checkpointOf(parentConfig as RunnableConfig | undefined),
    ...(tasks !== undefined && { tasks: Array.isArray(tasks) ? tasks.map(publicTask) : tasks }),
  };
}

/** A chunk of the library's stream, in the form for clients. */
export function publicChunk(mode: unknown, data: unknown): unknown {
  if (!isObject(data)) return data;
  if (mode === 'checkpoints') return publicCheckpoint(data);
  if (mode === 'debug' && data.type === 'checkpoint' && isObject(data.payload)) {
    return { ...data, payload: publicCheckpoint(data.payload) };
  }
  return data;
}

interface GraphEvent {
  data: unknown;
}

/** An event of the mode `events`: those of a graph carry the chunks that it streams in all other modes. */
export function publicEvent<T extends GraphEvent>(event: T): T {
  const { data } = event;
  if (!isObject(data) || !Array.isArray(data.chunk)) return event;
  const chunk: unknown[] = data.chunk;
  const at = chunk.length - 2;
  // For a nested graph, without the namespace.
  if (at !== 0 && at !== 1) return event;
  const shown = publicChunk(chunk[at], chunk[at + 1]);
  if (shown === chunk[at + 1]) return event;
  return { ...event, data: { ...data, chunk: [...chunk.slice(0, -1), shown] } };
}
