type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

/** A config without what the library keeps in it for itself: savers, streams, scratchpads. */
function publicConfig(config: unknown): unknown {
  if (!isObject(config) || !isObject(config.configurable)) return config ?? null;
  const { callbacks: _, ...rest } = config;
  const configurable = Object.fromEntries(Object.entries(config.configurable).filter(([key]) => !key.startsWith('__')));
  return { ...rest, configurable };
}

/** A checkpoint as clients are told of it, by the modes `checkpoints` and `debug`. */
function publicCheckpoint({ config, parentConfig, ...checkpoint }: Json): Json {
  return { config: publicConfig(config), parent_config: publicConfig(parentConfig), ...checkpoint };
}

/** What the library says in a mode, as clients are told it. */
export function publicChunk(mode: string, data: unknown): unknown {
  if (!isObject(data)) return data;
  if (mode === 'checkpoints') return publicCheckpoint(data);
  if (mode === 'debug' && data.type === 'checkpoint' && isObject(data.payload)) {
    return { ...data, payload: publicCheckpoint(data.payload) };
  }
  return data;
}
