import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { PortableZstdDecoder } from './zstd-decoder';

const LIMIT = 1_000_000;
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
  const decoder = new PortableZstdDecoder(LIMIT);
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

  it.each([1, 5, 1000])(
    'reads several frames, with what may be skipped between them, %i bytes at a time',
    async (chunkBytes) => {
      const skipped = Buffer.concat([Buffer.from([0x53, 0x2a, 0x4d, 0x18, 30, 0, 0, 0]), Buffer.alloc(30, 9)]);
      const body = Buffer.concat([frame(17, raw('a'), repeat(3, true)), skipped, encoded, frame(10, raw('z', true))]);
      expect(await decode(body, chunkBytes)).toBe(`axxx${content}z`);
    },
  );

  it('makes no room for a window above 8 MB', async () => {
    expect(await decode(frame(23, raw('a', true)))).toBe('a');
    await expect(decode(frame(24, raw('a', true)))).rejects.toThrow('its window is larger than 8388608 bytes');
    const singleSegment = Buffer.from([...MAGIC, 0xa0, 0, 0, 0, 0x7f, 1, 0, 0]);
    await expect(decode(singleSegment)).rejects.toThrow('its window is larger');
  });

  it('ends at the limit, however much a few bytes unfold to', async () => {
    const bomb = frame(17, ...Array.from({ length: 10_000 }, () => repeat(131_072)));
    await expect(decode(bomb)).rejects.toMatchObject({ code: 'trace_too_large', status: 413 });
  });

  it('bounds the work that tiny blocks make', async () => {
    const tiny = (log: number): Buffer =>
      frame(log, ...Array.from({ length: 100_000 }, () => repeat(1)), raw('a', true));
    await expect(decode(tiny(23))).rejects.toThrow('too many small blocks');
    await expect(decode(tiny(10))).rejects.toThrow('too many small blocks');
    const flushed = frame(19, ...Array.from({ length: 2_000 }, () => raw('{"a":1}')), raw('', true));
    expect(await decode(flushed)).toHaveLength(14_000);
  });

  it.each([
    ['no zstd', Buffer.from('{"post":[]}')],
    ['an early end', encoded.subarray(0, -6)],
    ['an end inside the checksum', encoded.subarray(0, -1)],
    ['an end inside a header', encoded.subarray(0, 3)],
    ['a block of a reserved type', frame(17, Buffer.from([0x0f, 0, 0, 0]))],
    ['a block larger than its window', frame(10, block('raw', 2000, Buffer.alloc(2000), true))],
  ])('refuses %s', async (_title, body) => {
    await expect(decode(body)).rejects.toThrow(/^it /);
  });

  it('survives whatever is changed in a body', async () => {
    for (let index = 0; index < encoded.length; index += 1) {
      for (const value of [0, 0x7f, 0xff]) {
        const damaged = Buffer.from(encoded);
        damaged[index] = value;
        const outcome = await decode(damaged).then(
          (text) => text.length,
          (error: Error) => error.constructor.name,
        );
        expect(typeof outcome === 'number' || ['ZstdError', 'ApiError'].includes(outcome)).toBe(true);
      }
    }
  });
});
