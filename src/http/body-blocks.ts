import { setImmediate } from 'node:timers/promises';
import { errorCodes, type FastifyRequest, type RequestPayload } from 'fastify';

/**
 * Size of a block, which is joined in some tenths of a millisecond: joining a body of 100 MiB at once would delay every other
 * request.
 */
const BLOCK_BYTES = 1024 * 1024;

/** Bytes in a few pieces, of which each but the last has about a mebibyte. */
export type Blocks = Buffer[];

/** Joins pieces to blocks as they come. */
class BlockBuilder {
  private readonly blocks: Blocks = [];
  private pieces: Buffer[] = [];
  private size = 0;

  add(piece: Buffer): void {
    this.pieces.push(piece);
    this.size += piece.length;
    if (this.size >= BLOCK_BYTES) this.join();
  }

  end(): Blocks {
    if (this.size > 0) this.join();
    return this.blocks;
  }

  private join(): void {
    this.blocks.push(Buffer.concat(this.pieces, this.size));
    this.pieces = [];
    this.size = 0;
  }
}

/**
 * Collects the body of a request within the limit of its route, as Fastify does for parsers of whole buffers.
 * @param payload the body, decompressed
 * @throws {FastifyError} 413 above the limit, 400 for a body that isn't as long as its Content-Length, or that ends early
 */
export function readBlocks(request: FastifyRequest, payload: RequestPayload): Promise<Blocks> {
  const limit = request.routeOptions.bodyLimit;
  const declared = Number(request.headers['content-length'] ?? NaN);
  if (declared > limit) return Promise.reject(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
  return new Promise((resolve, reject) => {
    const builder = new BlockBuilder();
    let received = 0;
    const take = (chunk: Buffer): void => {
      received += chunk.length;
      if (received > limit || (payload.receivedEncodedLength ?? 0) > limit) {
        stop();
        reject(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE());
      } else builder.add(chunk);
    };
    const end = (): void => {
      stop();
      const sent = payload.receivedEncodedLength ?? received;
      if (!Number.isNaN(declared) && sent !== declared) reject(new errorCodes.FST_ERR_CTP_INVALID_CONTENT_LENGTH());
      else resolve(builder.end());
    };
    const fail = (error: Error & { statusCode?: number }): void => {
      stop();
      reject(Object.assign(error, { statusCode: error.statusCode ?? 400 }));
    };
    const stop = (): void => void payload.off('data', take).off('end', end).off('error', fail);
    payload.on('data', take).on('end', end).on('error', fail);
    payload.resume();
  });
}

/** Joins pieces to blocks, yielding to other work after each few of them. */
export async function blocksOf(pieces: Iterable<Buffer>): Promise<Blocks> {
  const builder = new BlockBuilder();
  let size = 0;
  for (const piece of pieces) {
    builder.add(piece);
    size += piece.length;
    if (size < 8 * BLOCK_BYTES) continue;
    size = 0;
    await setImmediate();
  }
  return builder.end();
}

export const sizeOf = (blocks: Uint8Array[]): number => blocks.reduce((sum, { length }) => sum + length, 0);

/** All bytes in one piece, for small bodies and for use in threads. */
export const joined = (blocks: Blocks): Buffer => (blocks.length === 1 ? blocks[0] : Buffer.concat(blocks));
