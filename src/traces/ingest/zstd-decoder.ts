import { Transform, TransformCallback } from 'node:stream';
import * as zlib from 'node:zlib';
import { Decompress } from 'fzstd';
import { ApiError } from '../../http/api-error';
import { traceErrors } from '../trace.errors';

/** RFC 9659: the largest window of zstd as a content coding. A decoder must hold that much, and a sender may not ask for more. */
const MAX_WINDOW_LOG = 23;
const MAX_WINDOW_BYTES = 1 << MAX_WINDOW_LOG;

const MAGIC = 0xfd2fb528;
const SKIPPABLE_MAGIC = 0x184d2a50;
const MAX_BLOCK_BYTES = 128 * 1024;

/**
 * What a block costs, in bytes moved: fzstd shifts its whole window for each, and reads tables of up to some 10 µs. A full
 * block has earned the largest window by what comes out of it; many tiny ones have not, and are bounded by the allowance
 * (1,000 blocks with the 2 MB window that most encoders use): at most some 2 s of work for the largest body.
 */
const BLOCK_BYTES = 64 * 1024;
const EARNED_PER_BYTE = MAX_WINDOW_BYTES / MAX_BLOCK_BYTES + 1;
const ALLOWANCE_BYTES = 2 * 1024 * 1024 * 1024;

/** Node has zstd of its own from 22.15 on; its types here are Node 20's. */
interface NativeZstd {
  createZstdDecompress?: (options: { params: Record<number, number> }) => Transform;
  constants: { ZSTD_d_windowLogMax?: number };
}

/**
 * A stream that decodes zstd. It fails for what is no zstd and for windows above 8 MB; where the stream can't wait for its
 * reader, also once more than `limitBytes` have come out.
 */
export function createZstdDecoder(limitBytes: number): Transform {
  const { createZstdDecompress, constants } = zlib as unknown as NativeZstd;
  return createZstdDecompress && constants.ZSTD_d_windowLogMax !== undefined
    ? createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG } })
    : new PortableZstdDecoder(limitBytes);
}

/** Why a body can't be decoded. */
export class ZstdError extends Error {}

function asZstdError(error: unknown): Error {
  return error instanceof ZstdError || error instanceof ApiError
    ? error
    : new ZstdError('it is damaged', { cause: error });
}

type Unit =
  | { kind: 'frame'; bytes: number; windowBytes: number; hasChecksum: boolean }
  | { kind: 'block'; bytes: number; isLast: boolean }
  | { kind: 'skip'; bytes: number };

/**
 * fzstd, fed one frame header or one block at a time: a header is looked at before fzstd makes room for the window that it
 * asks for, and what each block costs is counted.
 */
export class PortableZstdDecoder extends Transform {
  private readonly decoder = new Decompress((decoded) => {
    this.budget += decoded.length * EARNED_PER_BYTE;
    this.decodedBytes += decoded.length;
    // 4 bytes may unfold to 128 KB: a single chunk could hold gigabytes.
    if (this.decodedBytes > this.limitBytes) throw traceErrors.tooLarge(this.limitBytes);
    if (decoded.length > 0) this.push(decoded);
  });
  private decodedBytes = 0;
  private pending: Buffer = Buffer.alloc(0);
  /** Of the frame that is being read; undefined between frames. */
  private frame: { windowBytes: number; hasChecksum: boolean } | undefined;
  /** Bytes that are passed on unseen: a checksum, or a skippable frame's content. */
  private unseen = 0;
  private budget = ALLOWANCE_BYTES;

  constructor(private readonly limitBytes: number) {
    super();
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    try {
      while (!this.destroyed && this.advance());
      done();
    } catch (error) {
      done(asZstdError(error));
    }
  }

  override _flush(done: TransformCallback): void {
    if (this.frame || this.unseen > 0 || this.pending.length > 0) return done(new ZstdError('it ends too early'));
    try {
      // A frame of less than 18 bytes is decoded now.
      this.decoder.push(new Uint8Array(0), true);
      done();
    } catch (error) {
      done(asZstdError(error));
    }
  }

  /** Passes on one more unit, if it is there as a whole. */
  private advance(): boolean {
    if (this.unseen > 0) {
      const passed = Math.min(this.unseen, this.pending.length);
      this.unseen -= passed;
      this.passOn(passed);
      return passed > 0;
    }
    const unit = this.frame ? readBlock(this.pending, this.frame.windowBytes) : readFrame(this.pending);
    if (!unit || unit.bytes > this.pending.length) return false;
    switch (unit.kind) {
      case 'skip':
        this.unseen = this.pending.readUInt32LE(4);
        break;
      case 'frame':
        if (unit.windowBytes > MAX_WINDOW_BYTES) {
          throw new ZstdError(`its window is larger than ${MAX_WINDOW_BYTES} bytes`);
        }
        this.frame = unit;
        break;
      case 'block':
        this.budget -= BLOCK_BYTES + (this.frame?.windowBytes ?? 0);
        if (this.budget < 0) throw new ZstdError('it has too many small blocks for its window');
        if (unit.isLast) {
          this.unseen = this.frame?.hasChecksum ? 4 : 0;
          this.frame = undefined;
        }
    }
    this.passOn(unit.bytes);
    return true;
  }

  private passOn(bytes: number): void {
    this.decoder.push(this.pending.subarray(0, bytes));
    this.pending = this.pending.subarray(bytes);
  }
}

/** RFC 8878, 3.1.1.1 and 3.1.2; undefined until enough of it is there. */
function readFrame(data: Buffer): Unit | undefined {
  if (data.length < 5) return undefined;
  const magic = data.readUInt32LE(0);
  if ((magic & 0xfffffff0) >>> 0 === SKIPPABLE_MAGIC) return data.length < 8 ? undefined : { kind: 'skip', bytes: 8 };
  if (magic !== MAGIC) throw new ZstdError('it does not begin as zstd');
  const descriptor = data[4];
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const dictionaryBytes = [0, 1, 2, 4][descriptor & 3];
  const sizeFlag = descriptor >> 6;
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 1 << sizeFlag;
  const sizeAt = (isSingleSegment ? 5 : 6) + dictionaryBytes;
  const bytes = sizeAt + sizeBytes;
  if (data.length < bytes) return undefined;
  let windowBytes: number;
  if (isSingleSegment) {
    windowBytes =
      sizeBytes === 8
        ? Number(data.readBigUInt64LE(sizeAt))
        : data.readUIntLE(sizeAt, sizeBytes) + (sizeFlag === 1 ? 256 : 0);
  } else {
    const base = 2 ** (10 + (data[5] >> 3));
    windowBytes = base + (base / 8) * (data[5] & 7);
  }
  return { kind: 'frame', bytes, windowBytes, hasChecksum: (descriptor & 4) !== 0 };
}

/** RFC 8878, 3.1.1.2. */
function readBlock(data: Buffer, windowBytes: number): Unit | undefined {
  if (data.length < 3) return undefined;
  const header = data.readUIntLE(0, 3);
  const type = (header >> 1) & 3;
  const size = header >> 3;
  if (type === 3 || size > Math.min(MAX_BLOCK_BYTES, windowBytes))
    throw new ZstdError('it has a block that is not valid');
  return { kind: 'block', bytes: 3 + (type === 1 ? 1 : size), isLast: (header & 1) !== 0 };
}
