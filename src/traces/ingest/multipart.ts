import type { Readable } from 'node:stream';
import {
  getMultipartBoundary,
  MaxFileSizeExceededError,
  MaxPartsExceededError,
  MaxTotalSizeExceededError,
  MultipartParseError,
  MultipartParser,
} from '@remix-run/multipart-parser';
import { traceErrors } from '../trace.errors';

/** LangSmith's clients send a hundred runs at once, each with some ten parts; each part costs its headers' memory. */
const MAX_PARTS = 100_000;

export interface MultipartPart {
  name: string;
  contentType: string;
  /** The bytes in pieces, as they arrived; only joined where necessary. */
  pieces: Buffer[];
  size: number;
}

/**
 * Reads the parts of a multipart body as it arrives. Parts of trace clients have no filename and may say
 * `Content-Type: application/json; length=123`: all are read as bytes and not changed.
 * @throws {ApiError} 413 above `limitBytes`, 422 for a body that is not multipart.
 */
export async function readMultipart(body: Readable, contentType: string, limitBytes: number): Promise<MultipartPart[]> {
  const parts: MultipartPart[] = [];
  try {
    const boundary = /^multipart\/form-data\b/i.test(contentType) && getMultipartBoundary(contentType);
    if (!boundary) throw traceErrors.notMultipart('Content-Type must be multipart/form-data with a boundary');
    const parser = new MultipartParser(boundary.trim(), {
      maxFileSize: limitBytes,
      maxTotalSize: limitBytes,
      maxParts: MAX_PARTS,
    });
    let isWhole = false;
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      // RFC 2046, 5.1.1: what follows the closing boundary is to be ignored; mostly it is the rest of its line.
      if (isWhole) continue;
      for (const { name = '', mediaType = '', content, size } of parser.write(chunk)) {
        parts.push({ name, contentType: mediaType, pieces: content.map(asBuffer), size });
      }
      isWhole = hasEnded(parser);
    }
    parser.finish();
    return parts;
  } catch (error) {
    // The rest is read and dropped: a client that is still sending could not read the answer otherwise.
    body.resume();
    if (error instanceof MaxFileSizeExceededError || error instanceof MaxTotalSizeExceededError) {
      throw traceErrors.tooLarge(limitBytes);
    }
    if (error instanceof MaxPartsExceededError) throw traceErrors.tooManyParts(MAX_PARTS);
    throw isMalformed(error) ? traceErrors.notMultipart(error.message) : error;
  }
}

/** No multipart, headers that are no UTF-8, or a connection that was closed before the body's end. */
function isMalformed(error: unknown): error is Error {
  if (error instanceof MultipartParseError) return true;
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ERR_ENCODING_INVALID_ENCODED_DATA' || code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}

function hasEnded(parser: MultipartParser): boolean {
  try {
    parser.finish();
    return true;
  } catch {
    return false;
  }
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);
