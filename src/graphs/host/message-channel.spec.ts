import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { serialize } from 'node:v8';
import { BOUNDED_CLONE, CorruptMessage, JSON_TEXT, MessageChannel, MessageTooLarge } from './message-channel';

describe('MessageChannel', () => {
  let server: Server;
  let [ours, theirs]: Socket[] = [];
  let channel: MessageChannel;
  let received: unknown[];
  let corrupt: CorruptMessage[];

  beforeEach(async () => {
    server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    theirs = connect((server.address() as AddressInfo).port, '127.0.0.1');
    [ours] = (await once(server, 'connection')) as [Socket];
    [received, corrupt] = [[], []];
    channel = new MessageChannel(
      ours,
      (message) => received.push(message),
      (error) => corrupt.push(error),
      { awaitsReader: true, codec: BOUNDED_CLONE, maxBytes: 100 * 1024 * 1024 },
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

  it('reads messages however their bytes are split', async () => {
    const messages = [{ a: 1 }, { text: 'é'.repeat(100_000) }, { bytes: Buffer.from([1, 2]) }, {}];
    const bytes = Buffer.concat(messages.map((message) => framed(serialize(message))));
    for (let at = 0; at < bytes.length; at += 7_001) theirs.write(bytes.subarray(at, at + 7_001));
    theirs.end();
    await once(ours, 'end');
    expect(received).toEqual(messages);
    expect(corrupt).toEqual([]);
  });

  it('exchanges messages with another channel', async () => {
    const answer = new Promise((resolve) => {
      new MessageChannel(theirs, resolve, () => undefined).send({ hello: [1n, new Date(0)] });
    });
    await once(ours, 'data');
    expect(received).toEqual([{ hello: [1n, new Date(0)] }]);
    ours.write(framed(serialize('well')));
    expect(await answer).toBe('well');
  });

  /** Writes until the other side takes no more; resolves to the messages that were taken, or are in flight. */
  async function flood(message: unknown): Promise<number> {
    const bytes = framed(serialize(message));
    let count = 1;
    // A socket holds some MiB by itself; a reader would take any number.
    while (theirs.write(bytes) || (await Promise.race([once(theirs, 'drain'), silence()]))) {
      count += 1;
      if (count > 100_000) throw new Error('All of the flood is taken');
    }
    return count;
  }
  /** Resolves when what the sockets could do at once is done. */
  const silence = async (): Promise<false> => {
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    return false;
  };

  it('stops reading while it is on hold, so that messages stay with the sender', async () => {
    const [first, second] = [channel.hold(), channel.hold()];
    const sent = await flood('x'.repeat(100_000));
    first();
    await silence();
    expect(received).toEqual([]);
    second();
    theirs.end();
    await once(ours, 'end');
    expect(received).toHaveLength(sent);
  });

  it('stops reading from a peer that does not read the answers', async () => {
    theirs.pause();
    while (ours.writableLength === 0) channel.send('x'.repeat(1_000_000));
    const sent = await flood('x'.repeat(100_000));
    expect(received).toEqual([]);
    theirs.resume().end();
    await once(ours, 'end');
    expect(received).toHaveLength(sent);
  });

  it('refuses to send what the other side would not read', async () => {
    const theirChannel = new MessageChannel(
      theirs,
      () => undefined,
      () => undefined,
    );
    expect(() => theirChannel.send('x'.repeat(1_000), 1_000)).toThrow(MessageTooLarge);
    theirChannel.send('short', 1_000);
    theirs.end();
    await once(ours, 'end');
    expect(received).toEqual(['short']);
  });

  it('yields to other work between many messages', async () => {
    theirs.write(Buffer.concat(Array.from({ length: 2_000 }, () => framed(serialize(1)))));
    const turns = new Set<number>();
    while (received.length < 2_000) {
      await new Promise(setImmediate);
      turns.add(received.length);
    }
    expect(turns.size).toBeGreaterThan(5);
  });

  it.each([
    ['an invalid message', framed(Buffer.alloc(100, 7))],
    ['an empty message', framed(Buffer.alloc(0))],
    ['one of more objects than bytes', framed(serialize(Array.from({ length: 600_000 }, () => ({}))))],
    ['one that is too long', Buffer.concat([Buffer.from('GNTR'), Buffer.alloc(4, 0xff)])],
    ['the length of a message without its mark', Buffer.from([0, 0, 1, 0, 0, 0, 0, 0])],
  ])('reports %s once, and reads nothing afterwards', async (_, bytes) => {
    theirs.on('error', () => undefined);
    theirs.write(Buffer.concat([framed(serialize('before')), bytes, bytes, framed(serialize('after'))]));
    await once(ours, 'close');
    expect(received).toEqual(['before']);
    expect(corrupt).toHaveLength(1);
    expect(corrupt[0]).toBeInstanceOf(CorruptMessage);
  });
});

describe('the format for other languages', () => {
  const sent = (value: unknown): unknown => JSON.parse(JSON_TEXT.encode(value).toString());

  it.each([
    ['half of a pair', 'a\ud800b', 'a\ufffdb'],
    ['halves one after another', '\ud800\ud800\udc00\udfff', '\ufffd\ud800\udc00\ufffd'],
    ['a half after a backslash', '\\\ud800', '\\\ufffd'],
    ['a backslash before letters like those of an escape', '\\ud800 \\\\ud800', '\\ud800 \\\\ud800'],
    ['other characters that are escaped', '\0"\\\n\u001f', '\0"\\\n\u001f'],
    ['whole pairs', '\ud83d\ude00', '\ud83d\ude00'],
  ])('has no halves of surrogate pairs: %s', (_, given, expected) => {
    expect(sent({ [given]: [given] })).toEqual({ [expected]: [expected] });
    expect(JSON_TEXT.encode(given).toString()).not.toMatch(/(?<!\\)(?:\\\\)*\\ud/);
  });
});
