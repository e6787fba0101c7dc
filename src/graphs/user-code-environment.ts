import type { AppConfig } from '../config/config';
import { ConfigError } from '../config/config-error';
import { SECRET_SETTINGS } from '../config/secret-settings';

/** Where programs, their files and their language are. */
const SYSTEM = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TMPDIR',
  'TZ',
  'LANG',
  'LANGUAGE',
  'LC_*',
  'XDG_*',
  'NODE_ENV',
];

/** How the network is reached, and whose certificates count. */
const NETWORK = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_ENV_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

/** Model providers and tracing. AWS_* isn't among them: it is the identity of the whole machine, buckets included. */
const PROVIDERS = [
  'ANTHROPIC_*',
  'AZURE_OPENAI_*',
  'BEDROCK_AWS_*',
  'CEREBRAS_*',
  'COHERE_*',
  'CO_API_KEY',
  'DEEPSEEK_*',
  'FIREWORKS_*',
  'GEMINI_*',
  'GOOGLE_*',
  'GROQ_*',
  'HF_*',
  'HUGGINGFACE*',
  'LANGCHAIN_*',
  'LANGSMITH_*',
  'MISTRAL_*',
  'NVIDIA_*',
  'OLLAMA_*',
  'OPENAI_*',
  'OPENROUTER_*',
  'PERPLEXITY_*',
  'TAVILY_*',
  'TOGETHER_*',
  'VERTEX_*',
  'VOYAGE*',
  'WATSONX_*',
  'XAI_*',
];

/** The machine's own identity, which opens buckets as AWS_* does: graph code gets it where the operator names it. */
const IDENTITY = 'GOOGLE_APPLICATION_CREDENTIALS';

const ALWAYS = [...SYSTEM, ...NETWORK, ...PROVIDERS];

/** The part of the settings that names variables. */
interface GraphVariables {
  graphs: Pick<AppConfig['graphs'], 'environment'>;
}

/**
 * The environment of graph, app and auth code: an allow-list, so that a setting added to Gantry later stays with Gantry.
 * @param own `env` of langgraph.json; it wins over the process's
 * @throws {ConfigError} where the operator or langgraph.json would hand a secret of Gantry's to that code
 */
export function userCodeEnvironment(
  { templateEnvironment: process, graphs }: Pick<AppConfig, 'templateEnvironment'> & GraphVariables,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const named = graphs.environment;
  const problems = [...namedSecrets(named), ...ownSecrets(own, process)];
  if (problems.length > 0) throw new ConfigError(problems);
  const [isUsual, isNamed] = [matcher(ALWAYS), matcher(named)];
  const isAllowed = (name: string): boolean => isNamed(name) || (isUsual(name) && name !== IDENTITY);
  const inherited = Object.entries(process).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && isAllowed(entry[0]),
  );
  return { ...Object.fromEntries(inherited), ...own };
}

function matcher(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set(patterns.filter((pattern) => !pattern.endsWith('*')));
  const prefixes = patterns.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1));
  return (name) =>
    !SECRET_SETTINGS.includes(name) && (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix)));
}

function namedSecrets(named: readonly string[]): string[] {
  return named
    .filter((name) => SECRET_SETTINGS.includes(name))
    .map((name) => `GANTRY_GRAPH_ENV: ${name} is a secret of Gantry's own, which graph code must not have`);
}

/** A file of variables that the graphs share with Gantry would hand them its secrets, under these names or others. */
function ownSecrets(own: Readonly<Record<string, string>>, process: AppConfig['templateEnvironment']): string[] {
  const values = new Set(SECRET_SETTINGS.map((name) => process[name]).filter(Boolean));
  const isReserved = (name: string): boolean => name !== 'DATABASE_URL' && SECRET_SETTINGS.includes(name);
  return Object.entries(own)
    .filter(([name, value]) => isReserved(name) || values.has(value))
    .map(
      ([name]) =>
        `langgraph.json: env.${name} holds a secret of Gantry's own, which graph code must not have: remove it, or let "env" name a file for the graphs alone`,
    );
}
