import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Entry {
  embedding: number[];
  metadata: Record<string, unknown>;
  text: string;
}

interface SearchRequest {
  knn: { query_vector: number[]; k: number; filter?: { bool?: { must?: { term: Record<string, unknown> }[] } } };
}

/**
 * The part of Elasticsearch's HTTP API that LangChain's vector store uses, over an array: no package registry has the real one.
 * The real client talks to it.
 */
export class VectorIndex {
  readonly entries: Entry[] = [];
  private readonly server = createServer((request, response) => {
    this.answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  static async start(): Promise<VectorIndex> {
    const index = new VectorIndex();
    await new Promise<void>((resolve) => index.server.listen(0, '127.0.0.1', resolve));
    return index;
  }

  /** Variables by which applications find it. */
  get env(): Record<string, string> {
    const ELASTICSEARCH_URL = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return { ELASTICSEARCH_URL, ELASTICSEARCH_USER: 'elastic', ELASTICSEARCH_PASSWORD: 'none' };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const path = request.url!.split('?')[0];
    // Header without which the client refuses a server.
    response.setHeader('x-elastic-product', 'Elasticsearch');
    response.setHeader('content-type', 'application/vnd.elasticsearch+json;compatible-with=8');
    if (path === '/_bulk') response.end(JSON.stringify(this.add(text)));
    else if (path.endsWith('/_search')) response.end(JSON.stringify(this.search(JSON.parse(text) as SearchRequest)));
    else response.end('{}');
  }

  private add(lines: string): object {
    const [, ...rest] = lines.split('\n');
    // Every second line is a document, the others say where it goes.
    const added = rest.filter((line, place) => line && place % 2 === 0).map((line) => JSON.parse(line) as Entry);
    this.entries.push(...added);
    return { errors: false, took: 1, items: added.map(() => ({ index: { status: 201 } })) };
  }

  private search({ knn }: SearchRequest): object {
    const wanted = knn.filter?.bool?.must ?? [];
    const hits = this.entries
      .filter(({ metadata }) =>
        wanted.every(({ term }) =>
          Object.entries(term).every(([name, value]) => metadata[name.replace(/^metadata\./, '')] === value),
        ),
      )
      .map((entry, place) => ({ _id: String(place), _score: dot(entry.embedding, knn.query_vector), _source: entry }))
      .sort((a, b) => b._score - a._score)
      .slice(0, knn.k);
    return { took: 1, timed_out: false, hits: { hits } };
  }
}

const dot = (a: number[], b: number[]): number => a.reduce((sum, value, place) => sum + value * b[place], 0);
