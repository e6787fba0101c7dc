import { Readable } from 'node:stream';
import Fastify, { type FastifyInstance } from 'fastify';
import { type Blocks, blocksOf, joined, readBlocks, sizeOf } from './body-blocks';

const MIB = 1024 * 1024;
const TYPE = 'application/x-blocks';

describe('a body in blocks', () => {
  let server: FastifyInstance;

  beforeAll(async () => {
    server = Fastify({ bodyLimit: 4 * MIB });
    server.addContentTypeParser(TYPE, readBlocks);
    server.post('/', ({ body }) => ({ blocks: (body as Blocks).map(({ length }) => length) }));
    await server.ready();
  });

  afterAll(() => server.close());

  async function send(payload: Readable | Buffer, headers: Record<string, string> = {}): Promise<[number, unknown]> {
    const answer = await server.inject({
      method: 'POST',
      url: '/',
      payload,
      headers: { 'content-type': TYPE, ...headers },
    });
    return [answer.statusCode, answer.json<{ blocks?: number[]; code?: string }>()];
  }
  const pieces = (count: number, size: number): Buffer[] =>
    Array.from({ length: count }, () => Buffer.alloc(size, 'x'));

  it('has blocks of one mebibyte, and a shorter last one', async () => {
    expect(await send(Readable.from(pieces(5, MIB / 2)))).toEqual([200, { blocks: [MIB, MIB, MIB / 2] }]);
    expect(await send(Readable.from(pieces(3, 10)))).toEqual([200, { blocks: [30] }]);
    expect(await send(Buffer.alloc(10))).toEqual([200, { blocks: [10] }]);
  });

  it('is refused above the limit of its route, with and without a declared length', async () => {
    const refused = [413, expect.objectContaining({ code: 'FST_ERR_CTP_BODY_TOO_LARGE' })];
    expect(await send(Readable.from(pieces(9, MIB / 2)))).toEqual(refused);
    expect(await send(Buffer.alloc(4 * MIB + 1))).toEqual(refused);
    expect(await send(Buffer.alloc(4 * MIB))).toEqual([200, { blocks: [4 * MIB] }]);
  });

  it('is refused when its length differs from the declared one', async () => {
    expect(await send(Readable.from(pieces(2, 10)), { 'content-length': '21' })).toEqual([
      400,
      expect.objectContaining({ code: 'FST_ERR_CTP_INVALID_CONTENT_LENGTH' }),
    ]);
  });

  it('can be assembled from pieces, which stay in order', async () => {
    const given = Array.from({ length: 100 }, (_, index) => Buffer.alloc(200_000, index));
    const blocks = await blocksOf(given);
    expect(sizeOf(blocks)).toBe(20_000_000);
    expect(Math.max(...blocks.map(({ length }) => length))).toBeLessThan(2 * MIB);
    expect(joined(blocks).equals(Buffer.concat(given))).toBe(true);
    expect(joined(await blocksOf([]))).toHaveLength(0);
  });
});
