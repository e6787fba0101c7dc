import { domainToASCII } from 'node:url';
import { z } from 'zod';

/** Fields of the body that `webhooks.allowed_fields` may name: those that existing servers know, and Gantry's additions. */
const PAYLOAD_FIELDS = [
  'run_id',
  'thread_id',
  'assistant_id',
  'created_at',
  'updated_at',
  'metadata',
  'kwargs',
  'multitask_strategy',
  'langsmith_session_name',
  'status',
  'thread_status',
  'interrupts',
  'run_started_at',
  'run_ended_at',
  'webhook_sent_at',
  'values',
  'error',
] as const;

const domainSchema = z
  .string()
  .transform((domain, context) => normalDomain(domain) ?? refuse(context, 'must be a host name, or *. before one'));

/** The `webhooks` section of langgraph.json. */
export const webhookSectionSchema = z.strictObject({
  headers: z.record(z.string(), z.string()).default({}),
  env_prefix: z.string().min(1, 'must not be empty: it would open the whole environment').default('LG_WEBHOOK_'),
  allowed_fields: z.array(z.enum(PAYLOAD_FIELDS)).default([]),
  url: z
    .strictObject({
      allowed_domains: z.array(domainSchema).default([]),
      require_https: z.boolean().default(false),
      allowed_ports: z.array(z.number().int().min(1).max(65_535)).default([]),
      disable_loopback: z.boolean().default(false),
      disable_private_ips: z
        .literal(true, 'private addresses are always refused; GANTRY_WEBHOOK_ALLOW_CIDRS opens given networks')
        .optional(),
      max_url_length: z.number().int().min(1).max(65_536).default(4_096),
    })
    .prefault({}),
});

export type WebhookSection = z.output<typeof webhookSectionSchema>;

/** A host name in the form that a parsed URL has it in, so that the two compare as strings. */
function normalDomain(domain: string): string | undefined {
  const wildcard = domain.startsWith('*.');
  const host = wildcard ? domain.slice(2) : domain;
  // Checked before the conversion, which would silently cut a path off.
  if (/[*/?#@\\\s]/.test(host) || (host.includes(':') && !/^\[[0-9a-f:.]+\]$/i.test(host))) return undefined;
  const plain = host.startsWith('[') ? host : domainToASCII(host);
  if (plain === '') return undefined;
  try {
    const normal = new URL(`http://${plain}/`).hostname.replace(/\.$/, '');
    return wildcard ? `*.${normal}` : normal;
  } catch {
    return undefined;
  }
}

function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}
