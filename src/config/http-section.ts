import { z } from 'zod';
import { modulePath } from './module-path';

const headerPatterns = z
  .looseObject({
    includes: z.array(z.string()).nullish(),
    excludes: z.array(z.string()).nullish(),
    include: z.array(z.string()).nullish(),
    exclude: z.array(z.string()).nullish(),
  })
  .transform(({ includes, include, excludes, exclude }) => ({
    includes: includes ?? include ?? [],
    excludes: excludes ?? exclude ?? [],
  }));

const regularExpression = z.string().transform((text, context) => {
  try {
    // The whole origin has to match, as on the servers whose configuration this is.
    return new RegExp(`^(?:${text})$`);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'not a regular expression' });
    return z.NEVER;
  }
});

const corsSchema = z
  .strictObject({
    allow_origins: z.array(z.string().min(1)).optional(),
    allow_origin_regex: regularExpression.nullish(),
    allow_methods: z.array(z.string().min(1)).optional(),
    allow_headers: z.array(z.string().min(1)).optional(),
    allow_credentials: z.boolean().default(false),
    expose_headers: z.array(z.string().min(1)).default([]),
    max_age: z.number().int().min(0).max(86_400).default(600),
  })
  .refine(({ allow_credentials, allow_origins }) => !allow_credentials || !allow_origins?.includes('*'), {
    path: ['allow_credentials'],
    message: 'together with the origin * every web site could act for its visitors: name the origins',
  });

const off = z.boolean().default(false);

/** The `http` section of langgraph.json. */
export const httpSectionSchema = z.strictObject({
  app: modulePath.nullish(),
  disable_assistants: off,
  disable_threads: off,
  disable_runs: off,
  disable_crons: off,
  disable_store: off,
  disable_a2a: off,
  disable_mcp: off,
  disable_meta: off,
  disable_ui: off,
  disable_webhooks: off,
  disable_event_streaming: off,
  cors: corsSchema.nullish(),
  configurable_headers: headerPatterns.nullish(),
  logging_headers: headerPatterns.nullish(),
  middleware_order: z.enum(['middleware_first', 'auth_first']).nullish(),
  enable_custom_route_auth: z.boolean().default(true),
  mount_prefix: z
    .string()
    .regex(/^(\/[A-Za-z0-9._~-]+)*\/?$/, 'must start with / and hold path segments only')
    .transform((prefix) => prefix.replace(/\/$/, ''))
    .refine((prefix) => !/^\/(noauth|ok|metrics|ready)(\/|$)/.test(prefix), 'is reserved')
    .nullish(),
});

export type HttpSection = z.output<typeof httpSectionSchema>;
export type CorsSection = NonNullable<HttpSection['cors']>;
