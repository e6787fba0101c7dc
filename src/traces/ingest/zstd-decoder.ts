import { Transform, type TransformCallback } from 'node:stream';
import { constants, createZstdDecompress, type ZstdDecompress } from 'node:zlib';

/** RFC 9659: the largest window of zstd as a content coding. A decoder must support it, and a sender may not require more. */
const MAX_WINDOW_LOG = 23;

/** Reason for the sender of a body that failed to decode; undefined where the decoder's error says nothing useful. */
export function describeDecodingError(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ZSTD_error_frameParameter_windowTooLarge') {
    return `its window is larger than ${1 << MAX_WINDOW_LOG} bytes`;
  }
  return code === 'Z_BUF_ERROR' ? 'it ends too early' : undefined;
}

/**
 * Decodes zstd, of any number of frames; fails for other data and for windows above 8 MiB. Node's own decoder treats a frame
 * that ends inside a chunk as the end of the data and drops the rest without an error, so a new decoder starts with the rest of
 * the chunk.
 */
export class ZstdDecoder extends Transform {
  private decoder: ZstdDecompress;
  /** Bytes given to the current decoder. */
  private given = 0;
  private chunk: Buffer = Buffer.alloc(0);
  private whenConsumed: TransformCallback | undefined;
  private whenEnded: TransformCallback | undefined;

  constructor() {
    super();
    this.decoder = this.startFrame();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.whenConsumed = done;
    this.give(chunk);
  }

  override _flush(done: TransformCallback): void {
    this.whenEnded = done;
    this.decoder.end();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.decoder.destroy();
    done(error);
  }

  private startFrame(): ZstdDecompress {
    const decoder = createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG } });
    this.given = 0;
    decoder.on('data', (decoded: Buffer) => {
      if (this.push(decoded)) return;
      decoder.pause();
    });
    decoder.once('error', (error) => this.destroy(error));
    decoder.once('end', () => this.endFrame());
    return decoder;
  }

  override _read(size: number): void {
    this.decoder.resume();
    super._read(size);
  }

  private give(chunk: Buffer): void {
    this.chunk = chunk;
    this.given += chunk.length;
    const { decoder } = this;
    decoder.write(chunk, () => decoder === this.decoder && this.consumed());
  }

  private consumed(): void {
    const done = this.whenConsumed;
    this.whenConsumed = undefined;
    done?.();
  }

  private endFrame(): void {
    const rest = this.given - this.decoder.bytesWritten;
    if (rest === 0) {
      this.consumed();
      this.whenEnded?.();
      return;
    }
    const chunk = this.chunk.subarray(this.chunk.length - rest);
    this.decoder = this.startFrame();
    this.give(chunk);
  }
}
