import { snakeCase } from './names';

type Values = Record<string, unknown>;

const langsmith_tracing = { project_name: 'contract' };

/** Parameters that every method accepts in addition to its own. */
export const COMMON = { headers: { 'x-contract': 'python' }, params: {} };

/** Parameters that only Python's methods have: they join the first call of the shared contract. */
const ONLY_PYTHON: Record<string, Values> = {
  'assistants.search': { response_format: 'object' },
  'threads.update': { return_minimal: true },
  'runs.create': { langsmith_tracing },
  'runs.wait': { langsmith_tracing },
  'runs.stream': { langsmith_tracing, version: 'v2' },
};

/** Parameters that the script gives a function for: no server sees them. */
export const CALLBACKS = new Set(['on_run_created']);

/** Values that the Python methods take in another shape than those of JavaScript. */
const RESHAPED: Record<string, (values: Values) => Values> = {
  'threads.create': (values) => ({ ...values, supersteps: [{ updates: [{ values: {}, as_node: '__input__' }] }] }),
  'threads.get_state': ({ checkpoint, ...values }) =>
    typeof checkpoint === 'string' ? { ...values, checkpoint_id: checkpoint } : { ...values, checkpoint },
};

/**
 * The calls of a method of the Python clients, by the names of their parameters: those of the JavaScript client, without
 * what only that one takes, and with what only Python's takes.
 * @param method as `runs.create_batch`
 * @param parameters of the method
 * @param calls of the same method of the JavaScript client
 */
export function pythonCalls(method: string, parameters: string[], calls: Values[]): Values[] {
  if (method === 'runs.create_batch') return [{ payloads: calls.map(renamed) }];
  const reshape = RESHAPED[method] ?? ((values: Values) => values);
  return calls.map((call, index) => {
    const values = { ...reshape(renamed(call)), ...(index === 0 && ONLY_PYTHON[method]) };
    const isTaken = ([name, value]: [string, unknown]): boolean => value !== undefined && parameters.includes(name);
    return Object.fromEntries(Object.entries(values).filter(isTaken));
  });
}

/** Arguments of Python methods only, that are not parameters of the method: the contract is wrong there. */
export function unknownExtras(method: string, parameters: string[]): string[] {
  return Object.keys(ONLY_PYTHON[method] ?? {}).filter((name) => !parameters.includes(name));
}

/** The commands of a thread's stream, with every parameter. */
export const STREAM_ORDERS = {
  stream: { assistant_id: 'ask', headers: COMMON.headers, run_start_timeout: 30 },
  'run.start': { input: {}, config: { tags: ['contract'] }, metadata: { of: 'contract' }, langsmith_tracing },
  'run.respond': { response: 'yes' },
  'agent.get_tree': { xray: true, ...COMMON },
};

function renamed(values: Values): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [snakeCase(name), value]));
}
