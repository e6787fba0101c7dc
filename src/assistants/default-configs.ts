import { z } from 'zod';
import { configSchema, contextSchema, jsonObject } from './assistants.schemas';

/**
 * `LANGGRAPH_CONFIG`: the configuration that the default assistant of a graph is made with, by the name of the graph. What
 * stands under `context` there becomes the assistant's context.
 */
export const defaultConfigsSchema = z.record(
  z.string(),
  jsonObject
    .transform(({ context = {}, ...config }): unknown => ({ config, context }))
    .pipe(z.object({ config: configSchema, context: contextSchema })),
);
export type DefaultConfigs = z.infer<typeof defaultConfigsSchema>;
