import { Injectable } from '@nestjs/common';
import { Client, errors, type Dispatcher } from 'undici';
import { AppConfig } from '../config/config';
import { HttpSettings } from '../config/http-settings';
import { AttemptOutcome } from './attempt.entity';
import { errorCode } from './error-code';
import { parseRetryAfter } from './retry-schedule';
import { ResolutionError } from './webhook-resolver';
import { AddressRefusedError, Destination, WebhookPolicy } from './webhook-policy';

export interface SendResult {
  outcome: AttemptOutcome;
  durationMs: number;
  responseCode: number | null;
  responseExcerpt: string | null;
  /** A sentence for people; it never holds an address, a header or a part of the URL. */
  error: string | null;
  retryAfterMs?: number;
  /** Set where an attempt of another process may have another outcome, though this one is usually final. */
  mayChange?: boolean;
}

/** The status is decisive; the rest of the answer is only for the log. */
const EXCERPT_TIME_MS = 1_000;
const MAX_HEADER_BYTES = 16_384;

/** Makes one POST over a new connection, to an address that the policy has just checked. */
@Injectable()
export class WebhookSender {
  constructor(
    private readonly config: AppConfig,
    private readonly policy: WebhookPolicy,
    private readonly http: HttpSettings,
  ) {}

  /** Rejects only when `signal` is aborted: everything that a receiver can do is a result. */
  async send(
    destination: Destination,
    headers: Record<string, string>,
    body: string,
    signal: AbortSignal,
  ): Promise<SendResult> {
    const { connectTimeoutMs, timeoutMs } = this.config.webhooks.delivery;
    const started = performance.now();
    const { origin, path } = this.addressOf(destination);
    // No keep-alive, since the address of each connection is checked.
    const client = new Client(origin, {
      pipelining: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
      connect: {
        timeout: connectTimeoutMs,
        ...(destination.kind === 'external' && { lookup: this.policy.lookupFor(destination) }),
      },
    });
    const deadline = AbortSignal.timeout(timeoutMs);
    let answer: Omit<SendResult, 'durationMs'>;
    try {
      const response = await client.request({
        method: 'POST',
        path,
        headers,
        body,
        signal: AbortSignal.any([signal, deadline]),
      });
      answer = { ...this.judge(response), responseExcerpt: await this.excerptOf(response.body) };
    } catch (error) {
      signal.throwIfAborted();
      answer = {
        responseCode: null,
        responseExcerpt: null,
        ...failureOf(error, deadline.aborted, timeoutMs, connectTimeoutMs),
      };
    } finally {
      await client.destroy();
    }
    return { ...answer, durationMs: Math.round(performance.now() - started) };
  }

  private addressOf(destination: Destination): { origin: string; path: string } {
    if (destination.kind === 'internal') {
      return { origin: new URL(this.config.http.apiUrl).origin, path: this.http.mountPrefix + destination.path };
    }
    return { origin: destination.url.origin, path: destination.url.pathname + destination.url.search };
  }

  private judge({ statusCode, headers }: Dispatcher.ResponseData): Omit<SendResult, 'durationMs' | 'responseExcerpt'> {
    const says = (outcome: AttemptOutcome, error: string | null) => ({ outcome, responseCode: statusCode, error });
    if (statusCode >= 200 && statusCode < 300) return says('delivered', null);
    if (statusCode < 400) return says('redirect_refused', `Answered ${statusCode}: redirects are not followed`);
    if (statusCode === 410) return says('gone', 'Answered 410: the receiver wants no more deliveries');
    const retryAfter = headers['retry-after'];
    const retryAfterMs =
      statusCode === 429 || statusCode === 503
        ? parseRetryAfter(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, new Date())
        : undefined;
    const outcome = statusCode < 500 ? 'client_error' : 'server_error';
    return { ...says(outcome, `Answered ${statusCode}`), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }

  /** The first bytes of the answer. However much more there is, it isn't read: the connection is closed. */
  private async excerptOf(body: Dispatcher.ResponseData['body']): Promise<string | null> {
    const limit = this.config.webhooks.delivery.responseBytes;
    // Closing before the end is an error for the stream, but expected here.
    body.on('error', () => undefined);
    if (limit === 0) return null;
    const chunks: Buffer[] = [];
    let size = 0;
    const timer = setTimeout(() => body.destroy(), EXCERPT_TIME_MS);
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        chunks.push(chunk);
        size += chunk.length;
        if (size >= limit) break;
      }
    } catch {
      // The answer was cut off or timed out: the received part is kept.
    } finally {
      clearTimeout(timer);
    }
    return printable(Buffer.concat(chunks).subarray(0, limit));
  }
}

/** Postgres takes no NUL in a text, and a terminal no escape sequences. */
function printable(bytes: Buffer): string {
  // eslint-disable-next-line no-control-regex -- the control characters are what this is about
  return bytes.toString('utf8').replace(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/g, '\ufffd');
}

function failureOf(
  error: unknown,
  late: boolean,
  timeoutMs: number,
  connectTimeoutMs: number,
): { outcome: AttemptOutcome; error: string } {
  if (error instanceof AddressRefusedError)
    return { outcome: 'blocked_address', error: 'The host has no address that webhooks may be sent to' };
  if (error instanceof ResolutionError)
    return { outcome: 'dns_error', error: 'The name of the host could not be resolved' };
  if (error instanceof errors.ConnectTimeoutError) {
    return { outcome: 'timeout', error: `No connection within ${connectTimeoutMs / 1000} s` };
  }
  if (late || error instanceof errors.HeadersTimeoutError) {
    return { outcome: 'timeout', error: `No answer within ${timeoutMs / 1000} s` };
  }
  const code = errorCode(error);
  if (code === 'ECONNREFUSED') return { outcome: 'connection_error', error: 'The connection was refused' };
  if (code === 'ETIMEDOUT') return { outcome: 'timeout', error: 'No connection: the network gave up' };
  if (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|EPROTO|HOSTNAME_MISMATCH)/.test(code)) {
    return { outcome: 'tls_error', error: `TLS failed: ${code}` };
  }
  if (error instanceof errors.HTTPParserError) return { outcome: 'connection_error', error: 'The answer is not HTTP' };
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return {
      outcome: 'connection_error',
      error: `The headers of the answer are larger than ${MAX_HEADER_BYTES} bytes`,
    };
  }
  if (['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET', 'UND_ERR_CLOSED'].includes(code)) {
    return { outcome: 'connection_error', error: 'The connection was closed before an answer came' };
  }
  return { outcome: 'connection_error', error: `The connection failed${code ? `: ${code}` : ''}` };
}
