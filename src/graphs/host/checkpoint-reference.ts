interface Configurable {
  thread_id?: string;
  checkpoint_id?: string;
  checkpoint_ns?: string;
  checkpoint_map?: Record<string, unknown> | null;
}

/** Reference to a checkpoint, as the API shows and accepts it. */
export interface CheckpointReference {
  thread_id: string | undefined;
  /** Null: the newest one of a nested graph. */
  checkpoint_id: string | null;
  checkpoint_ns: string;
  checkpoint_map: Record<string, unknown> | null;
}

function referenceOf(configurable: Configurable): CheckpointReference {
  return {
    thread_id: configurable.thread_id,
    checkpoint_id: configurable.checkpoint_id ?? null,
    checkpoint_ns: configurable.checkpoint_ns ?? '',
    checkpoint_map: configurable.checkpoint_map ?? null,
  };
}

/** The checkpoint that a config of the library names; null when it names none. */
export function checkpointOf(config: { configurable?: Configurable } | undefined): CheckpointReference | null {
  return config?.configurable?.checkpoint_id ? referenceOf(config.configurable) : null;
}

/** The checkpoints of the graph that a task runs, which its config may name by their namespace alone. */
export function taskCheckpointOf(config: { configurable?: Configurable } | undefined): CheckpointReference | null {
  return config?.configurable?.thread_id ? referenceOf(config.configurable) : null;
}
