import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { Injectable, OnApplicationShutdown } from '@nestjs/common';
import { ApiError } from '../../http/api-error';
import { sizeOf } from '../../http/body-blocks';
import { type Instant, instantOf } from '../instant';
import { traceErrors } from '../trace.errors';
import type { UploadContent } from './upload-content';
import { readUpload, Upload } from './upload';
import { UploadGate } from './upload-gate';
import type { FromThread, Refusal, ToThread } from './upload-thread';

/** Size up to which an upload is parsed in some ten milliseconds: a span's attribute may have a few bytes, and becomes several objects. */
const SMALL_BYTES = { json: 512 * 1024, spans: 64 * 1024 };
/** The memory of the thread's heap is freed with the thread. */
const IDLE_MS = 10_000;

/**
 * Parses uploads: small ones at once, and others one at a time in a thread, so that the process answers other requests
 * meanwhile, and survives an upload that needs too much memory.
 */
@Injectable()
export class UploadReader implements OnApplicationShutdown {
  private readonly gate = new UploadGate(1);
  private thread: Worker | undefined;
  private idle: NodeJS.Timeout | undefined;

  /**
   * @param upload its body is transferred and must not be used again
   * @throws {ApiError} 4xx naming the invalid field, 503 when too many uploads wait
   */
  async read(upload: Upload): Promise<UploadContent> {
    const receivedAt = instantOf(new Date());
    const small = upload.form === 'otlp' ? SMALL_BYTES.spans : SMALL_BYTES.json;
    if (sizeOf(upload.body) <= small) return readUpload(upload, receivedAt);
    return this.gate.run(() => this.readInThread(upload, receivedAt));
  }

  async onApplicationShutdown(): Promise<void> {
    clearTimeout(this.idle);
    await this.thread?.terminate();
  }

  private async readInThread(upload: Upload, receivedAt: Instant): Promise<UploadContent> {
    clearTimeout(this.idle);
    const thread = (this.thread ??= this.startThread());
    const body = upload.body.map(movable);
    try {
      return await contentFrom(thread, { type: 'read', upload: { ...upload, body }, receivedAt }, body);
    } finally {
      this.idle = setTimeout(() => void this.endThread(), IDLE_MS).unref();
    }
  }

  private startThread(): Worker {
    // The thread needs no environment.
    const thread = new Worker(join(__dirname, 'upload-thread.js'), { env: {} });
    const forget = (): void => {
      if (this.thread === thread) this.thread = undefined;
    };
    thread.on('error', forget).on('exit', forget).unref();
    return thread;
  }

  private async endThread(): Promise<void> {
    const { thread } = this;
    this.thread = undefined;
    await thread?.terminate();
  }
}

/** Bytes with their own memory, which is transferred to the thread without a copy. */
function movable(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const isAlone = bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength;
  return isAlone ? (bytes as Uint8Array<ArrayBuffer>) : Uint8Array.from(bytes);
}

/** The thread's result, in portions that it sends one by one. */
function contentFrom(thread: Worker, task: ToThread, moved: Uint8Array<ArrayBuffer>[]): Promise<UploadContent> {
  const content: UploadContent = { operations: [], feedback: [] };
  return new Promise<UploadContent>((resolve, reject) => {
    const take = (message: FromThread): void => {
      if (message.type === 'portion') {
        for (const operation of message.portion.operations) content.operations.push(operation);
        for (const values of message.portion.feedback) content.feedback.push(values);
        thread.postMessage({ type: 'next' } satisfies ToThread);
        return;
      }
      thread.off('message', take).off('error', lose).off('exit', lose);
      if (message.type === 'end') resolve(content);
      else if (message.type === 'refused') reject(asApiError(message.refusal));
      else reject(new Error(`An upload could not be read: ${message.stack}`));
    };
    const lose = (reason: Error | number): void => {
      const isMemory = reason instanceof Error && 'code' in reason && reason.code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (isMemory) reject(traceErrors.needsTooMuchMemory());
      else reject(reason instanceof Error ? reason : new Error('The thread that reads uploads has ended'));
    };
    thread.on('message', take).on('error', lose).on('exit', lose);
    thread.postMessage(
      task,
      moved.map(({ buffer }) => buffer),
    );
  });
}

const asApiError = ({ status, code, detail, errors }: Refusal): ApiError =>
  new ApiError(status, code, detail, { errors });
