import { createSocket, type Socket } from 'node:dgram';

const TYPE = { 1: 'A', 28: 'AAAA' } as const;

/** A real name server on loopback. `answer` is asked for every question, so what it says may change. */
export class DnsServer {
  readonly questions: string[] = [];
  private socket: Socket | undefined;

  constructor(private readonly answer: (name: string, type: 'A' | 'AAAA') => string[] | 'silent') {}

  async start(): Promise<string> {
    const socket = createSocket('udp4');
    socket.on('message', (query, { address, port }) => {
      const reply = this.reply(query);
      if (reply) socket.send(reply, port, address);
    });
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
    this.socket = socket;
    return `127.0.0.1:${socket.address().port}`;
  }

  stop(): void {
    this.socket?.close();
  }

  /** RFC 1035: the header, the question repeated, and one record of 4 or 16 bytes per address, with a lifetime of 0. */
  private reply(query: Buffer): Buffer | undefined {
    const labels: string[] = [];
    let at = 12;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('ascii', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const type = TYPE[query.readUInt16BE(at + 1) as keyof typeof TYPE];
    const question = query.subarray(12, at + 5);
    const name = labels.join('.').toLowerCase();
    this.questions.push(`${type} ${name}`);
    const addresses = this.answer(name, type);
    if (addresses === 'silent') return undefined;
    const records = addresses.map((address) => {
      const data = type === 'A' ? Buffer.from(address.split('.').map(Number)) : expand(address);
      const head = Buffer.from([0xc0, 12, 0, type === 'A' ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]);
      return Buffer.concat([head, data]);
    });
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    return Buffer.concat([header, question, ...records]);
  }
}

function expand(address: string): Buffer {
  const [left = '', right] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const tail = groups(right ?? '');
  const head = groups(left);
  const all =
    right === undefined ? head : [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return Buffer.concat(all.map((group) => Buffer.from(group.padStart(4, '0'), 'hex')));
}
