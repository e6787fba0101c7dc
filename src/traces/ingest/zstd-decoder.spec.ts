import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { zstdCompressSync } from 'node:zlib';
import { describeDecodingError, ZstdDecoder } from './zstd-decoder';

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/** Windows are 2 to the power of `log`. */
const frame = (log: number, ...blocks: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([...MAGIC, 0, (log - 10) << 3]), ...blocks]);
function block(type: 'raw' | 'repeat', size: number, content: Buffer, isLast = false): Buffer {
  const header = Buffer.alloc(3);
  header.writeUIntLE((size << 3) | ((type === 'raw' ? 0 : 1) << 1) | Number(isLast), 0, 3);
  return Buffer.concat([header, content]);
}
const raw = (text: string, isLast = false): Buffer => block('raw', text.length, Buffer.from(text), isLast);
const repeat = (size: number, isLast = false): Buffer => block('repeat', size, Buffer.from('x'), isLast);

async function decode(body: Buffer, chunkBytes = body.length): Promise<string> {
  const chunks = Array.from({ length: Math.ceil(body.length / chunkBytes) }, (_, index) =>
    body.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  );
  const decoder = new ZstdDecoder();
  const [decoded] = await Promise.all([buffer(decoder), pipeline(Readable.from(chunks), decoder)]);
  return decoded.toString();
}

describe('decoding zstd', () => {
  // Of the reference encoder, with the size of the content and a checksum.
  const encoded = Buffer.from(
    'KLUv/WQMAoUBAHQCeyJxdWVzdGlvbiI6IndoeT8iLCJhbnN3ZXIiOiJiZWNhdXNlICJ9AQAXpyr1BNuOz2w=',
    'base64',
  );
  const content = '{"question":"why?","answer":"because "}'.repeat(20);

  it.each([1, 2, 7, 1000])('reads what the reference encoder wrote, %i bytes at a time', async (chunkBytes) => {
    expect(await decode(encoded, chunkBytes)).toBe(content);
  });

  it.each([1, 2, 3, 5, 30, 77, 1000])(
    'reads several frames, and skippable frames between them, %i bytes at a time',
    async (chunkBytes) => {
      const skipped = Buffer.concat([Buffer.from([0x53, 0x2a, 0x4d, 0x18, 30, 0, 0, 0]), Buffer.alloc(30, 9)]);
      const body = Buffer.concat([frame(17, raw('a'), repeat(3, true)), skipped, encoded, frame(10, raw('z', true))]);
      expect(await decode(body, chunkBytes)).toBe(`axxx${content}z`);
    },
  );

  it('allocates no window above 8 MB', async () => {
    expect(await decode(frame(23, raw('a', true)))).toBe('a');
    const singleSegment = Buffer.from([...MAGIC, 0xa0, 0, 0, 0, 0x7f, 1, 0, 0]);
    for (const body of [frame(24, raw('a', true)), singleSegment]) {
      const error: unknown = await decode(body).catch((reason: unknown) => reason);
      expect(describeDecodingError(error as Error)).toBe('its window is larger than 8388608 bytes');
    }
  });

  it('reports that a truncated body ends too early', async () => {
    const error: unknown = await decode(encoded.subarray(0, -6)).catch((reason: unknown) => reason);
    expect(describeDecodingError(error as Error)).toBe('it ends too early');
  });

  it.each([
    ['no zstd', Buffer.from('{"post":[]}')],
    ['an early end', encoded.subarray(0, -6)],
    ['an end inside the checksum', encoded.subarray(0, -1)],
    ['an end inside a header', encoded.subarray(0, 3)],
    ['a block of a reserved type', frame(17, Buffer.from([0x0f, 0, 0, 0]))],
    ['a block larger than its window', frame(10, block('raw', 2000, Buffer.alloc(2000), true))],
  ])('refuses %s', async (_title, body) => {
    await expect(decode(body)).rejects.toThrow();
  });

  it('reads many megabytes for a slow reader without buffering them', async () => {
    const text = randomBytes(4 * 1024 * 1024).toString('hex');
    const body = Buffer.concat([zstdCompressSync(text), zstdCompressSync(text)]);
    const decoder = new ZstdDecoder();
    Readable.from([body]).pipe(decoder);
    let length = 0;
    for await (const piece of decoder) {
      length += (piece as Buffer).length;
      expect(decoder.readableLength).toBeLessThan(1024 * 1024);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(length).toBe(2 * text.length);
  });
});
