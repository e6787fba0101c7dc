import { Client } from 'langsmith';
import { snakeCase } from '../names';
import { javascriptSignatures, type JavaScriptMethod } from './javascript-signatures';
import type { Answer } from './clients';

const ENOUGH = 3;

/** The JavaScript client of LangSmith, with a record of what it sends. */
export class JavaScriptClient {
  private readonly signatures = javascriptSignatures();
  private readonly client: Client;
  private sent: Answer['sent'] = [];

  constructor(apiUrl: string) {
    this.client = new Client({
      ...{ apiUrl, apiKey: 'x', autoBatchTracing: false, callerOptions: { maxRetries: 0 } },
      fetchImplementation: (input, init) => this.fetch(input as string | URL, init),
    });
  }

  /** Method → its parameters, both as Python spells them. */
  get methods(): Record<string, string[]> {
    const names = [...this.signatures].map(([method, { parameters }]) => {
      const own = parameters.flatMap(({ name, fields }) => (name ? [name] : fields)).map(toSnake);
      return [method, [...new Set(own)]] as [string, string[]];
    });
    return Object.fromEntries(names);
  }

  async call(method: string, values: Record<string, unknown>): Promise<Answer> {
    const { path, parameters } = this.signatures.get(method)!;
    const owner = path.slice(0, -1).reduce<unknown>((each, part) => (each as never)[part], this.client);
    const run = (owner as Record<string, (...args: unknown[]) => unknown>)[path.at(-1)!].bind(owner);
    this.sent = [];
    const failure = await finish(() => run(...argumentsOf(parameters, values))).then(() => null, String);
    return { sent: [...this.sent], failure };
  }

  private async fetch(input: string | URL, init?: RequestInit): Promise<Response> {
    const response = await fetch(input, init);
    const text = typeof init?.body === 'string' ? init.body : '';
    const { status } = response;
    const body = text === '' ? undefined : (JSON.parse(text) as unknown);
    this.sent.push({ method: (init?.method ?? 'GET').toUpperCase(), url: String(input), body, status });
    return response;
  }
}

function argumentsOf(parameters: JavaScriptMethod['parameters'], values: Record<string, unknown>): unknown[] {
  return parameters.map(({ name, fields, dates }) => {
    if (name) return values[toSnake(name)];
    const given = fields.filter((field) => values[toSnake(field)] !== undefined);
    const valueOf = (field: string): unknown => {
      const value = values[toSnake(field)];
      return dates.includes(field) ? new Date(value as string) : value;
    };
    return Object.fromEntries(given.map((field) => [field, valueOf(field)]));
  });
}

/** `runID` and `runId` are `run_id`. */
function toSnake(name: string): string {
  return snakeCase(
    name
      .replace(/(?<=[a-z])ID$/, 'Id')
      .replace('IO', 'Io')
      .replace('S3', 's3')
      .replace('Accept', 'accept'),
  );
}

async function finish(call: () => unknown): Promise<void> {
  let result = call();
  if (!isIterable(result)) result = await result;
  if (!isIterable(result)) return;
  let count = 0;
  for await (const _ of result) if (++count >= ENOUGH) break;
}

function isIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
