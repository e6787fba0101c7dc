import { Client } from '@langchain/langgraph-sdk';
import { CONTRACT, methodOf } from './client-contract';
import type { Signature } from './client-signatures';
import type { SentRequest } from './openapi-document';

/** A request with its answer. */
export interface Exchange extends SentRequest {
  status: number;
  /** Parsed JSON of a good answer; undefined for streams and where there is none. */
  answer: unknown;
  /** Text of an answer that is an error. */
  error: string;
}

/** The outcome of one call of a method. */
export interface Recorded {
  /** Arguments by the names of the parameters. */
  values: Record<string, unknown>;
  sent: Exchange[];
  /** Events of a stream, as the client gave them out. */
  events: { event: string; data: unknown }[];
  failure: string | undefined;
}

/** The JavaScript client, with a record of what it sends and is answered. */
export class RecordingClient {
  readonly client: Client;
  private sent: Exchange[] = [];

  constructor(apiUrl: string) {
    const fetch = (target: string | URL | Request, init?: RequestInit): Promise<Response> => this.fetch(target, init);
    this.client = new Client({ apiUrl, apiKey: null, callerOptions: { maxRetries: 0, fetch } });
  }

  /** Calls a method of the contract with named values, laid out as its signature wants them. */
  async call(name: string, { parameters }: Signature, values: Record<string, unknown>): Promise<Recorded> {
    const own = new Set(parameters.filter(({ kind }) => kind === 'value').map((each) => each.name));
    const options = Object.fromEntries(Object.entries(values).filter(([key]) => !own.has(key)));
    const args = parameters.map(({ name: parameter, kind }) =>
      kind === 'value' ? values[parameter] : kind === 'options' ? options : [options],
    );
    this.sent = [];
    const events: Recorded['events'] = [];
    const failure = await finish(methodOf(this.client, name)(...args), events, CONTRACT[name].events).then(
      () => undefined,
      String,
    );
    return { values, sent: [...this.sent], events, failure };
  }

  private async fetch(target: string | URL | Request, init?: RequestInit): Promise<Response> {
    // A server closes idle connections after some seconds, which may coincide with a request: it had no answer then.
    const response = await fetch(target, init).catch((error: unknown) => {
      if ((error as Error).message === 'fetch failed') return fetch(target, init);
      throw error;
    });
    const isStream = response.headers.get('content-type')?.includes('event-stream') ?? false;
    const text = isStream ? '' : await response.clone().text();
    this.sent.push({
      method: init?.method ?? 'GET',
      url: new URL(target instanceof Request ? target.url : target),
      body: init?.body ? (JSON.parse(init.body as string) as unknown) : undefined,
      status: response.status,
      answer: response.ok && text !== '' ? (JSON.parse(text) as unknown) : undefined,
      error: response.ok ? '' : text,
    });
    return response;
  }
}

/** Reads a stream to its end, or as many events as are enough; anything else is awaited. */
async function finish(result: unknown, events: Recorded['events'], enough = Infinity): Promise<void> {
  if (typeof result !== 'object' || result === null || !(Symbol.asyncIterator in result)) return void (await result);
  for await (const event of result as AsyncIterable<Recorded['events'][number]>) {
    if (events.push(event) >= enough) break;
  }
}
