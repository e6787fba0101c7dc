import { z } from 'zod';
import { ConfigError } from '../config/config-error';
import { type WebhookSection, webhookSectionSchema } from '../config/webhook-section';

/** Headers that the delivery itself sets, or that would change how the request is framed. */
const RESERVED_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'webhook-id',
  'webhook-signature',
  'webhook-timestamp',
]);

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** `${{ env.NAME }}`; `${{}}` and `{{ x }}` are no templates and stay as they are. */
const TEMPLATE = /\$\{\{\s*([^}]+?)\s*\}\}/g;

const configFileSchema = z.looseObject({
  webhooks: webhookSectionSchema.prefault({}),
  http: z.looseObject({ disable_webhooks: z.boolean().default(false) }).prefault({}),
});

/** The webhook section of langgraph.json with its header templates filled in. Header values are secrets. */
export interface WebhookConfig {
  disabled: boolean;
  headers: Readonly<Record<string, string>>;
  /** Names of the headers whose value came from the environment. */
  secretHeaders: readonly string[];
  /** Top-level keys of the body that are sent; all when empty. */
  allowedFields: readonly string[];
  url: {
    allowedDomains: readonly string[];
    requireHttps: boolean;
    /** Undefined for the default list, which doesn't apply to addresses that the operator allowed by CIDR. */
    allowedPorts: readonly number[] | undefined;
    disableLoopback: boolean;
    maxLength: number;
  };
}

/**
 * Reads `webhooks` and `http.disable_webhooks` out of a parsed langgraph.json.
 * @throws {ConfigError} with every problem; variables and headers are named, values never.
 */
export function resolveWebhookConfig(
  rawLanggraphJson: unknown,
  env: Readonly<Record<string, string | undefined>>,
): WebhookConfig {
  const parsed = configFileSchema.safeParse(rawLanggraphJson);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`));
  }
  return fillSection(parsed.data.webhooks, parsed.data.http.disable_webhooks, env);
}

/**
 * Fills the header templates of the section.
 * @throws {ConfigError} with every problem; variables and headers are named, values never.
 */
export function fillSection(
  webhooks: WebhookSection,
  disabled: boolean,
  env: Readonly<Record<string, string | undefined>>,
): WebhookConfig {
  const problems = headerNameProblems(Object.keys(webhooks.headers));
  const secretHeaders: string[] = [];
  const headers = Object.fromEntries(
    Object.entries(webhooks.headers).map(([name, template]) => {
      const filled = fillTemplate(template, webhooks.env_prefix, env);
      problems.push(...filled.problems.map((problem) => `webhooks.headers.${name}: ${problem}`));
      if (filled.isSecret) secretHeaders.push(name);
      return [name, filled.value];
    }),
  );
  if (problems.length > 0) throw new ConfigError(problems);
  return {
    disabled,
    headers,
    secretHeaders,
    allowedFields: webhooks.allowed_fields,
    url: {
      allowedDomains: webhooks.url.allowed_domains,
      requireHttps: webhooks.url.require_https,
      allowedPorts: webhooks.url.allowed_ports.length > 0 ? webhooks.url.allowed_ports : undefined,
      disableLoopback: webhooks.url.disable_loopback,
      maxLength: webhooks.url.max_url_length,
    },
  };
}

function headerNameProblems(names: string[]): string[] {
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const lower = name.toLowerCase();
    const repeated = seen.has(lower);
    seen.add(lower);
    if (!HEADER_NAME.test(name)) return [`webhooks.headers: ${JSON.stringify(name)} is not a header name`];
    if (RESERVED_HEADERS.has(lower)) return [`webhooks.headers.${name}: this header is set by the delivery itself`];
    return repeated ? [`webhooks.headers.${name}: the header is given twice`] : [];
  });
}

function fillTemplate(
  template: string,
  prefix: string,
  env: Readonly<Record<string, string | undefined>>,
): { value: string; isSecret: boolean; problems: string[] } {
  const problems: string[] = [];
  let isSecret = false;
  const value = template.replace(TEMPLATE, (_, expression: string) => {
    isSecret = true;
    const found = readVariable(expression.trim(), prefix, env);
    if ('problem' in found) problems.push(found.problem);
    return 'value' in found ? found.value : '';
  });
  if (problems.length === 0 && !HEADER_VALUE.test(value)) {
    problems.push('its value holds a character that a header may not hold (a line break, perhaps)');
  }
  return { value, isSecret, problems };
}

function readVariable(
  expression: string,
  prefix: string,
  env: Readonly<Record<string, string | undefined>>,
): { value: string } | { problem: string } {
  if (!expression.startsWith('env.'))
    return { problem: `only \${{ env.NAME }} is a template, not ${expression || 'a blank'}` };
  const name = expression.slice('env.'.length);
  if (name === '' || name.includes('.')) return { problem: `${expression} names no environment variable` };
  if (!name.startsWith(prefix))
    return { problem: `the variable ${name} must start with ${prefix} (webhooks.env_prefix)` };
  const value = env[name];
  return value === undefined ? { problem: `the environment variable ${name} is missing` } : { value };
}
