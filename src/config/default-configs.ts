import { z } from 'zod';
import { configWithContextSchema } from '../runnable-config/runnable-config.schemas';

/**
 * `LANGGRAPH_CONFIG`: the configuration that the default assistant of a graph is made with, by the name of the graph. What
 * stands under `context` there becomes the assistant's context.
 */
export const defaultConfigsSchema = z.record(
  z.string(),
  configWithContextSchema.transform(({ context, ...config }) => ({ config, context })),
);
export type DefaultConfigs = z.infer<typeof defaultConfigsSchema>;
