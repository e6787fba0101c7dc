import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';

/** Bytes in front of a message: a mark, by which foreign bytes are recognised, and its length. */
const HEADER_BYTES = 8;
const MARK = 0x47_4e_54_52;
/** Beyond the largest state that a run emits. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Messages that are read before other work of the process has its turn. */
const MESSAGES_A_TURN = 200;

/** How a message is written and read. */
export interface MessageCodec {
  encode: (message: unknown) => Buffer;
  decode: (bytes: Buffer) => unknown;
}

export const STRUCTURED_CLONE: MessageCodec = { encode: serialize, decode: deserialize };

/** For processes of other languages. */
export const JSON_TEXT: MessageCodec = {
  encode: (message) => Buffer.from(JSON.stringify(message)),
  decode: (bytes) => JSON.parse(bytes.toString()) as unknown,
};

/** Bytes that are no message: our code didn't write them. */
export class CorruptMessage extends Error {
  constructor(reason: string) {
    super(`Corrupt message: ${reason}`);
    this.name = 'CorruptMessage';
  }
}

/**
 * Messages between two processes over a socket. Node's own channel does the same, but ends the
 * process that reads bytes that are no message.
 */
export class MessageChannel {
  private pieces: Buffer[] = [];
  private size = 0;
  /** Bytes to read before anything can be done. */
  private needed = HEADER_BYTES;
  private isClosed = false;
  /** Reasons to read nothing at the moment. */
  private holds = 0;
  private isDraining = false;

  /**
   * @param onMessage called with each message and its size in bytes
   * @param onCorrupt called once; nothing is read after that
   * @param awaitsReader whether nothing is read while the other side doesn't read what it was sent: for one of the two sides only
   */
  constructor(
    private readonly socket: Socket,
    private readonly onMessage: (message: unknown, bytes: number) => void,
    private readonly onCorrupt: (error: CorruptMessage) => void,
    private readonly awaitsReader = false,
    private readonly codec: MessageCodec = STRUCTURED_CLONE,
  ) {
    // What breaks it closes it as well.
    socket.on('error', () => undefined);
    socket.on('close', () => this.close());
    socket.on('drain', () => (this.isDraining = false));
    socket.on('data', (chunk: Buffer) => this.take(chunk));
  }

  /** What can't be sent any more has no reader. */
  send(message: unknown): void {
    const body = this.codec.encode(message);
    if (this.isClosed) return;
    const header = Buffer.allocUnsafe(HEADER_BYTES);
    header.writeUInt32BE(MARK);
    header.writeUInt32BE(body.length, 4);
    this.socket.cork();
    this.socket.write(header);
    const isTaken = this.socket.write(body);
    this.socket.uncork();
    if (isTaken || !this.awaitsReader || this.isDraining) return;
    this.isDraining = true;
    this.socket.once('drain', this.hold());
  }

  /** Reads nothing more until the function that it returns is called: what isn't read stays with its sender. */
  hold(): () => void {
    this.holds += 1;
    this.socket.pause();
    return () => {
      this.holds -= 1;
      if (this.holds > 0) return;
      this.socket.resume();
      this.readAll();
    };
  }

  private take(chunk: Buffer): void {
    if (this.isClosed) return;
    this.pieces.push(chunk);
    this.size += chunk.length;
    this.readAll();
  }

  private readAll(): void {
    let left = MESSAGES_A_TURN;
    try {
      while (!this.isClosed && this.holds === 0 && this.size >= this.needed) {
        this.read();
        left -= 1;
        if (left === 0) setImmediate(this.hold());
      }
    } catch (error) {
      this.fail(error instanceof CorruptMessage ? error : new CorruptMessage(String(error)));
    }
  }

  private fail(error: CorruptMessage): void {
    if (this.isClosed) return;
    this.close();
    this.socket.destroy();
    this.onCorrupt(error);
  }

  private close(): void {
    this.isClosed = true;
    this.pieces = [];
    this.size = 0;
  }

  /** Reads a message, or how long the next one is. */
  private read(): void {
    const bytes = this.pieces.length === 1 ? this.pieces[0] : Buffer.concat(this.pieces);
    this.pieces = [bytes];
    if (bytes.readUInt32BE() !== MARK) throw new CorruptMessage('bytes that no message begins with');
    const length = bytes.readUInt32BE(4);
    if (length > MAX_BYTES) throw new CorruptMessage(`${length} bytes, of at most ${MAX_BYTES}`);
    this.needed = HEADER_BYTES + length;
    if (bytes.length < this.needed) return;
    const size = this.needed;
    const message: unknown = this.codec.decode(bytes.subarray(HEADER_BYTES, size));
    const rest = bytes.subarray(size);
    this.pieces = [rest];
    this.size = rest.length;
    this.needed = HEADER_BYTES;
    this.onMessage(message, size);
  }
}
