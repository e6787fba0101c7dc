import { Readable } from 'node:stream';
import { textOf } from '../bounded-answer';
import { HttpTransport, StoreAnswer, TransportAnswer } from '../http-transport';
import { Content, Found, md5Of, PutOptions, sliceOf } from '../object-store';
import type { PatienceSettings } from '../patience';
import { RestObjectStore } from '../rest-object-store';
import type { AzureRequest } from './azure-authorization';
import { explainAzureError } from './azure-errors';

/** Larger blobs are uploaded in blocks of this size, of which a blob may have 50,000. */
const BLOCK_BYTES = 64 * 1024 * 1024;

interface BlobRequest extends Pick<PutOptions, 'signal' | 'beforeSending'> {
  method: 'GET' | 'PUT' | 'HEAD' | 'DELETE';
  key: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  content?: Content;
}

/** A container of Azure Blob Storage, through its REST API. */
export class AzureObjectStore extends RestObjectStore {
  readonly permissions = {
    write: 'create and write permission (cw)',
    read: 'read permission (r)',
    delete: 'delete permission (d)',
  };

  /** @param container address of the container, without a slash at its end */
  constructor(
    transport: HttpTransport,
    patience: PatienceSettings,
    private readonly authorize: (request: AzureRequest) => AzureRequest,
    private readonly container: string,
  ) {
    super(transport, patience, explainAzureError);
  }

  async put(key: string, content: Content, options: PutOptions = {}): Promise<void> {
    const { signal, beforeSending } = options;
    const sending = { signal, beforeSending };
    const md5 = (options.md5 ?? md5Of(content)).toString('base64');
    const type = { 'x-ms-blob-content-type': options.contentType ?? 'application/octet-stream' };
    await this.explained(async () => {
      if (content.size <= BLOCK_BYTES) {
        const headers = { ...type, 'x-ms-blob-type': 'BlockBlob', 'content-md5': md5 };
        return this.write({ method: 'PUT', key, headers, content, ...sending });
      }
      const ids: string[] = [];
      for (let from = 0; from < content.size; from += BLOCK_BYTES) {
        const block = sliceOf(content, from, from + BLOCK_BYTES);
        const id = Buffer.from(String(ids.length).padStart(8, '0')).toString('base64');
        const headers = { 'content-md5': md5Of(block).toString('base64') };
        await this.write({
          method: 'PUT',
          key,
          query: { comp: 'block', blockid: id },
          headers,
          content: block,
          ...sending,
        });
        ids.push(id);
      }
      // Until it is in the list no block is part of the blob; those of a broken upload go by themselves after a week.
      const list = Buffer.from(
        `<?xml version="1.0" encoding="utf-8"?><BlockList>${ids.map((id) => `<Latest>${id}</Latest>`).join('')}</BlockList>`,
      );
      const headers = { ...type, 'x-ms-blob-content-md5': md5 };
      const listed = { pieces: [list], size: list.length };
      await this.write({ method: 'PUT', key, query: { comp: 'blocklist' }, headers, content: listed, ...sending });
    });
  }

  async head(key: string, signal?: AbortSignal): Promise<Found<number>> {
    return this.found(signal, async () => {
      const { headers, body } = await this.send({ method: 'HEAD', key, signal });
      await body.dump();
      return Number(headers['content-length']);
    });
  }

  protected get(key: string, range: string | undefined, signal?: AbortSignal): Promise<TransportAnswer> {
    return this.send({ method: 'GET', key, headers: range ? { 'x-ms-range': range } : {}, signal });
  }

  protected remove(key: string): Promise<void> {
    return this.writeOnce({ method: 'DELETE', key });
  }

  private write(request: BlobRequest): Promise<void> {
    return this.repeated(request, () => this.writeOnce(request));
  }

  private async writeOnce(request: BlobRequest): Promise<void> {
    const { status, headers, body } = await this.send(request);
    await body.dump();
    if (headers['x-ms-request-id'] === undefined) throw new StoreAnswer(status, undefined, `HTTP ${status}`);
  }

  /** @throws {StoreAnswer} for an answer that is no success. */
  private async send({
    method,
    key,
    query = {},
    headers = {},
    content,
    signal,
  }: BlobRequest): Promise<TransportAnswer> {
    const url = new URL(`${this.container}/${key.split('/').map(encodeURIComponent).join('/')}`);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const length: Record<string, string> = method === 'PUT' ? { 'content-length': String(content?.size ?? 0) } : {};
    const request = this.authorize({ method, url, headers: { ...headers, ...length } });
    const answer = await this.transport.send({
      method,
      url: request.url.href,
      headers: request.headers,
      body: content && content.size > 0 ? Readable.from(content.pieces, { objectMode: false }) : null,
      signal,
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    const text = await textOf(answer.body as AsyncIterable<Uint8Array>);
    const code = answer.headers['x-ms-error-code'] ?? /<Code>([^<]*)<\/Code>/.exec(text)?.[1];
    const [, message] = /<Message>([^<\n]*)/.exec(text) ?? [];
    throw new StoreAnswer(
      answer.status,
      code === undefined ? undefined : String(code),
      message ?? `HTTP ${answer.status}`,
    );
  }
}
