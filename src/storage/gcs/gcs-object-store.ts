import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { textOf } from '../bounded-answer';
import { HttpTransport, StoreAnswer, TransportAnswer, TransportRequest } from '../http-transport';
import { Content, Found, md5Of, PutOptions } from '../object-store';
import type { PatienceSettings } from '../patience';
import { RestObjectStore } from '../rest-object-store';
import { explainGcsError } from './gcs-errors';

/** Headers that show who asks, for each request. */
export type Authorize = () => Promise<Record<string, string>>;

/** A bucket of Google Cloud Storage, through its JSON API. */
export class GcsObjectStore extends RestObjectStore {
  readonly permissions = {
    write: 'storage.objects.create',
    read: 'storage.objects.get',
    delete: 'storage.objects.delete',
  };
  private readonly objects: string;
  private readonly uploads: string;

  /** @param origin of the API, without a slash at its end */
  constructor(
    transport: HttpTransport,
    patience: PatienceSettings,
    private readonly authorize: Authorize,
    origin: string,
    bucket: string,
  ) {
    super(transport, patience, explainGcsError);
    const path = `storage/v1/b/${encodeURIComponent(bucket)}/o`;
    this.objects = `${origin}/${path}`;
    this.uploads = `${origin}/upload/${path}?uploadType=multipart`;
  }

  /** In one request, whatever the size: Google takes up to 5 TiB so. */
  async put(key: string, content: Content, options: PutOptions = {}): Promise<void> {
    const md5Hash = (options.md5 ?? md5Of(content)).toString('base64');
    const contentType = options.contentType ?? 'application/octet-stream';
    const boundary = randomUUID();
    const metadata = JSON.stringify({ name: key, contentType, md5Hash });
    const head = Buffer.from(
      `--${boundary}\r\nContent-Type: application/json; charset=UTF-8\r\n\r\n${metadata}\r\n` +
        `--${boundary}\r\nContent-Type: ${contentType}\r\n\r\n`,
    );
    const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
    const headers = {
      'content-type': `multipart/related; boundary=${boundary}`,
      'content-length': String(head.length + content.size + tail.length),
    };
    await this.explained(async () => {
      await this.repeated(options, async () => {
        const body = Readable.from([head, ...content.pieces, tail], { objectMode: false });
        const answer = await this.send({ method: 'POST', url: this.uploads, headers, body, signal: options.signal });
        const written = (await readJson(answer)) as { name?: unknown } | undefined;
        if (written?.name !== key)
          throw new StoreAnswer(answer.status, undefined, 'The answer is not that of an upload');
      });
    });
  }

  async head(key: string, signal?: AbortSignal): Promise<Found<number>> {
    return this.found(signal, async () => {
      const answer = await this.send({ method: 'GET', url: `${this.urlOf(key)}?fields=size`, headers: {}, signal });
      const { size } = ((await readJson(answer)) ?? {}) as { size?: string };
      if (size === undefined) throw new StoreAnswer(answer.status, undefined, 'The answer is not that of an object');
      return Number(size);
    });
  }

  protected get(key: string, range: string | undefined, signal?: AbortSignal): Promise<TransportAnswer> {
    return this.send({ method: 'GET', url: `${this.urlOf(key)}?alt=media`, headers: range ? { range } : {}, signal });
  }

  protected async remove(key: string): Promise<void> {
    const { body } = await this.send({ method: 'DELETE', url: this.urlOf(key), headers: {} });
    await body.dump();
  }

  private urlOf(key: string): string {
    return `${this.objects}/${encodeURIComponent(key)}`;
  }

  /** @throws {StoreAnswer} for an answer that is no success. */
  private async send(request: TransportRequest): Promise<TransportAnswer> {
    const answer = await this.transport.send({
      ...request,
      headers: { ...request.headers, ...(await this.authorize()) },
    });
    if (answer.status >= 200 && answer.status < 300) return answer;
    const { error } = ((await readJson(answer)) ?? {}) as {
      error?: { message?: string; errors?: { reason?: string }[] };
    };
    const reason = error && (error.errors?.[0]?.reason ?? `HTTP ${answer.status}`);
    throw new StoreAnswer(answer.status, reason, error?.message ?? `HTTP ${answer.status}`);
  }
}

/** Undefined for an answer that isn't JSON, which is not Google's. */
async function readJson({ body }: TransportAnswer): Promise<unknown> {
  const text = await textOf(body as AsyncIterable<Uint8Array>);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
