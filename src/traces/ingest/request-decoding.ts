import { Readable, Transform, TransformCallback } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Injectable, OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest, RequestPayload } from 'fastify';
import { AppConfig } from '../../config/config';
import { ApiError } from '../../http/api-error';
import { readBlocks } from '../../http/body-blocks';
import { traceErrors } from '../trace.errors';
import { HeldBytes, UploadBudget } from './upload-budget';
import { describeDecodingError, ZstdDecoder } from './zstd-decoder';

/**
 * Maximum ratio of decompression beyond the free share of the limit: repeated prompts compress by a hundred times and more, but
 * not over tens of megabytes.
 */
const MAX_RATIO = 200;
const FREE_SHARE = 1 / 4;

/** The routes whose clients compress what they send. */
const TRACE_PATH = /^\/(?:api\/(?:v1\/)?)?(?:runs|otel|feedback)(?:\/|\?|$)/;

/**
 * Decodes whole-body compression of trace uploads before they are parsed, and limits the output: a small body that expands to
 * gigabytes is refused with 413 instead of ending the process, and so are many large ones at once with 503.
 */
@Injectable()
export class RequestDecoding implements OnModuleInit {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    private readonly config: AppConfig,
    private readonly budget: UploadBudget,
  ) {}

  onModuleInit(): void {
    const fastify = this.adapterHost.httpAdapter.getInstance<FastifyInstance>();
    fastify.addContentTypeParser('application/x-protobuf', readBlocks);
    fastify.addHook('preParsing', (request, reply, payload, done) => this.decode(request, reply, payload, done));
  }

  private decode(
    request: FastifyRequest,
    reply: FastifyReply,
    payload: RequestPayload,
    done: (error: Error | null, payload?: RequestPayload) => void,
  ): void {
    const { isTraceUpload } = request.routeOptions.config;
    const held = isTraceUpload ? this.budget.open(request.raw, reply.raw, request.tenantId) : undefined;
    const encoding = request.headers['content-encoding']?.trim().toLowerCase();
    if (!encoding || encoding === 'identity' || !TRACE_PATH.test(request.url)) {
      return done(null, held ? counted(payload, held) : payload);
    }
    const limitBytes = this.config.traces.uploadLimitBytes;
    const decoder = decoderOf(encoding);
    if (!decoder) return done(traceErrors.unsupportedEncoding(encoding));
    done(null, decoded(payload, decoder, encoding, limitBytes, held));
  }
}

function decoderOf(encoding: string): Transform | undefined {
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'zstd':
      return new ZstdDecoder();
    default:
      return undefined;
  }
}

/** A payload that isn't encoded, whose bytes are counted as they arrive. */
function counted(payload: Readable, held: HeldBytes): RequestPayload {
  const counter = new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, next: TransformCallback) {
      next(refusalOf(held, chunk), chunk);
    },
  });
  payload.on('error', (error) => counter.destroy(error));
  // The rest is read and dropped: a client that is still sending could not read the answer otherwise.
  counter.on('error', () => {
    payload.unpipe(counter);
    payload.resume();
  });
  return payload.pipe(counter);
}

/** The error for bytes that the process has no room for. */
function refusalOf(held: HeldBytes, chunk: Buffer): Error | null {
  try {
    held.take(chunk.length);
    return null;
  } catch (error) {
    return error as Error;
  }
}

/** The decoded payload; it keeps count of the encoded bytes, which Fastify compares with Content-Length. */
function decoded(
  payload: Readable,
  decoder: Transform,
  encoding: string,
  limitBytes: number,
  held: HeldBytes | undefined,
): RequestPayload {
  let total = 0;
  const bounded: Transform & RequestPayload = new Transform({
    transform(chunk: Buffer, _encoding: BufferEncoding, next: TransformCallback) {
      total += chunk.length;
      const encoded = bounded.receivedEncodedLength ?? 0;
      if (total > limitBytes || encoded > limitBytes) next(traceErrors.tooLarge(limitBytes));
      else if (total > limitBytes * FREE_SHARE && total > encoded * MAX_RATIO)
        next(traceErrors.unfoldsTooFar(MAX_RATIO));
      else next(held ? refusalOf(held, chunk) : null, chunk);
    },
  });
  bounded.receivedEncodedLength = 0;
  payload.on('data', (chunk: Buffer) => {
    bounded.receivedEncodedLength = (bounded.receivedEncodedLength ?? 0) + chunk.length;
  });
  const fail = (error: Error): void => {
    payload.unpipe(decoder);
    payload.resume();
    bounded.destroy(
      error instanceof ApiError ? error : traceErrors.undecodable(encoding, describeDecodingError(error)),
    );
  };
  payload.on('error', fail);
  decoder.on('error', fail);
  bounded.on('error', () => {
    payload.unpipe(decoder);
    payload.resume();
  });
  payload.pipe(decoder).pipe(bounded);
  return bounded;
}
