import { Busboy, BusboyConfig, BusboyInstance } from '@fastify/busboy';
import type { Readable } from 'node:stream';
import { traceErrors } from '../trace.errors';

export interface MultipartPart {
  name: string;
  contentType: string;
  /** The bytes in the pieces that they came in: put together only where somebody needs them so. */
  pieces: Buffer[];
  size: number;
}

export function textOf({ pieces }: MultipartPart): string {
  const [first] = pieces;
  return pieces.length === 1 && first ? first.toString('utf8') : Buffer.concat(pieces).toString('utf8');
}

/**
 * Reads the parts of a multipart body as it arrives. Parts of trace clients have no filename and may say
 * `Content-Type: application/json; length=123`: all are taken as files, whose bytes stay as they are.
 * @throws {ApiError} 413 above `limitBytes`, 422 for a body that is not multipart.
 */
export function readMultipart(body: Readable, contentType: string, limitBytes: number): Promise<MultipartPart[]> {
  return new Promise((resolve, reject) => {
    const parts: MultipartPart[] = [];
    let total = 0;
    const fail = (error: unknown): void => {
      body.unpipe();
      // What is left is read and dropped: a client that is still sending could not read the answer otherwise.
      body.resume();
      reject(error instanceof Error ? error : new Error(String(error)));
    };
    const malformed = (error: unknown): void =>
      fail(traceErrors.notMultipart(error instanceof Error ? error.message : String(error)));
    let parser: BusboyInstance;
    try {
      const config: BusboyConfig = { headers: { 'content-type': contentType }, isPartAFile: () => true };
      parser = new Busboy(config);
    } catch (error) {
      fail(traceErrors.notMultipart(error instanceof Error ? error.message : 'no boundary'));
      return;
    }
    parser.on('file', (name, stream, _filename, _encoding, partType) => {
      const part: MultipartPart = { name, contentType: partType, pieces: [], size: 0 };
      stream.on('data', (chunk: Buffer) => {
        total += chunk.length;
        part.size += chunk.length;
        if (total > limitBytes) fail(traceErrors.tooLarge(limitBytes));
        else part.pieces.push(chunk);
      });
      stream.on('error', malformed);
      stream.on('end', () => parts.push(part));
    });
    parser.on('error', malformed);
    parser.on('finish', () => resolve(parts));
    body.on('error', fail);
    body.on('aborted', () => fail(traceErrors.notMultipart('the connection was closed before its end')));
    body.pipe(parser);
  });
}
