import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { serialize } from 'node:v8';
import { CorruptMessage, MessageChannel } from './message-channel';

describe('MessageChannel', () => {
  let server: Server;
  let [ours, theirs]: Socket[] = [];
  let received: unknown[];
  let corrupt: CorruptMessage[];

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    theirs = connect((server.address() as AddressInfo).port, '127.0.0.1');
    [ours] = (await once(server, 'connection')) as [Socket];
    [received, corrupt] = [[], []];
    new MessageChannel(
      ours,
      (message) => received.push(message),
      (error) => corrupt.push(error),
    );
  });

  afterEach(() => {
    theirs.destroy();
    server.close();
  });

  const framed = (body: Buffer): Buffer => {
    const header = Buffer.from('GNTR\0\0\0\0');
    header.writeUInt32BE(body.length, 4);
    return Buffer.concat([header, body]);
  };

  it('reads messages however their bytes are divided', async () => {
    const messages = [{ a: 1 }, { text: 'é'.repeat(100_000) }, { bytes: Buffer.from([1, 2]) }, {}];
    const bytes = Buffer.concat(messages.map((message) => framed(serialize(message))));
    for (let at = 0; at < bytes.length; at += 7_001) theirs.write(bytes.subarray(at, at + 7_001));
    theirs.end();
    await once(ours, 'end');
    expect(received).toEqual(messages);
    expect(corrupt).toEqual([]);
  });

  it('exchanges messages with its like', async () => {
    const answer = new Promise((resolve) => {
      new MessageChannel(theirs, resolve, () => undefined).send({ hello: [1n, new Date(0)] });
    });
    await once(ours, 'data');
    expect(received).toEqual([{ hello: [1n, new Date(0)] }]);
    ours.write(framed(serialize('well')));
    expect(await answer).toBe('well');
  });

  it.each([
    ['a message that is none', framed(Buffer.alloc(100, 7))],
    ['an empty one', framed(Buffer.alloc(0))],
    ['one that is too long', Buffer.concat([Buffer.from('GNTR'), Buffer.alloc(4, 0xff)])],
    ['the length of a message without its mark', Buffer.from([0, 0, 1, 0, 0, 0, 0, 0])],
  ])('reports %s once, and reads nothing after it', async (_, bytes) => {
    theirs.on('error', () => undefined);
    theirs.write(Buffer.concat([framed(serialize('before')), bytes, bytes, framed(serialize('after'))]));
    await once(ours, 'close');
    expect(received).toEqual(['before']);
    expect(corrupt).toHaveLength(1);
    expect(corrupt[0]).toBeInstanceOf(CorruptMessage);
  });
});
