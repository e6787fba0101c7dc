import { z } from 'zod';

/** Whole numbers other than 0, and what clients of other languages write for yes. */
const deep = z.string().transform((text, context) => {
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (/^-?\d+$/.test(text)) return Number(text) !== 0;
  context.addIssue({ code: 'custom', message: 'must be a whole number: 1 to ask the services as well' });
  return z.NEVER;
});

export const healthQuery = z.object({ check_db: deep.default(false) });
export type HealthQuery = z.output<typeof healthQuery>;

export const serviceHealth = z.enum(['healthy', 'unhealthy', 'skipped']);
export type ServiceHealth = z.output<typeof serviceHealth>;

export const healthSchema = z.object({ ok: z.boolean(), services: z.record(z.string(), serviceHealth).optional() });

export const readinessSchema = z.object({ ready: z.boolean(), reason: z.string().optional() });
export type Readiness = z.output<typeof readinessSchema>;

/** An unknown format is the usual one, as on the public servers. */
export const metricsQuery = z.object({ format: z.string().optional() });
export type MetricsQuery = z.output<typeof metricsQuery>;

const findingSchema = z.object({
  name: z.string().describe('Name of the check, such as `database` or `cors`'),
  state: z.enum(['ok', 'warning', 'failure']),
  detail: z.string().describe('What was found. Addresses and versions, but no secrets'),
  remedy: z.string().nullable().describe('What to do about it; null where nothing needs to be done'),
});

export const findingsSchema = z.object({
  ok: z.boolean().describe('Whether no check failed; warnings do not count'),
  checked_at: z.string().describe('Start of the checks: an answer may be five seconds old'),
  findings: z.array(findingSchema),
});
export type Findings = z.output<typeof findingsSchema>;

export const infoSchema = z.object({
  version: z.string().describe("The public servers' release whose API is served"),
  gantry_version: z.string(),
  context: z.literal('js'),
  auth_type: z
    .enum(['none', 'api_key', 'custom'])
    .describe('What requests have to carry: nothing, an API key, or what auth.path of langgraph.json asks for'),
  temporal_ui: z.url().nullable().describe("Pages of this deployment's namespace in Temporal's own user interface"),
  flags: z.record(z.string(), z.boolean()).describe('Groups of routes that are served'),
  host: z.object({
    kind: z.string(),
    project_id: z.string().nullable(),
    host_revision_id: z.string().nullable(),
    revision_id: z.string().nullable().describe('Of the graphs: GANTRY_REVISION, or a hash of their files'),
    tenant_id: z.string().nullable(),
  }),
  batch_ingest_config: z.record(z.string(), z.union([z.boolean(), z.number()])),
  instance_flags: z.record(z.string(), z.boolean()),
});
export type Info = z.output<typeof infoSchema>;
