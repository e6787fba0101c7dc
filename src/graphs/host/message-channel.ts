import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import { wellFormedJson } from '../../database/storable-text';
import { checkJson } from '../../http/json-limits';
import { countSerialized } from '../../patches/node/serialized-values';

/** Bytes in front of a message: a mark, by which foreign bytes are recognised, and its length. */
const HEADER_BYTES = 8;
const MARK = 0x47_4e_54_52;
/** Default limits of a message. */
const MAX_BYTES = 256 * 1024 * 1024;
/** A message has a few thousand at the most, since states are texts in it; a few bytes of each can become a hundred times as many. */
const MAX_VALUES = 500_000;
/** Items of the store come as JSON, and vectors in them are long lists. */
const JSON_LIMITS = { depth: 1_000, tokens: 5_000_000 };
/** Messages that are read before the process gets to other work. */
const MESSAGES_A_TURN = 200;

/** How a message is written and read. */
export interface MessageCodec {
  encode: (message: unknown) => Buffer;
  decode: (bytes: Buffer) => unknown;
}

/** Format for messages between Gantry's own processes. */
const STRUCTURED_CLONE: MessageCodec = { encode: serialize, decode: deserialize };

/** Format for a process with user code, which could write a message whose objects fill the reader's memory. */
export const BOUNDED_CLONE: MessageCodec = {
  encode: serialize,
  decode: (bytes) => {
    countSerialized(bytes, MAX_VALUES);
    return deserialize(bytes) as unknown;
  },
};

/** Format for user code in other languages, whose parsers may refuse halves of surrogate pairs. */
export const JSON_TEXT: MessageCodec = {
  encode: (message) => Buffer.from(wellFormedJson(JSON.stringify(message))),
  decode: (bytes) => {
    const text = bytes.toString();
    checkJson(text, JSON_LIMITS);
    return JSON.parse(text) as unknown;
  },
};

/** A value that is too large to be sent. */
export class MessageTooLarge extends Error {
  constructor(bytes: number, limit: number) {
    super(
      `A value that the graph emits or returns, or its state, takes ${bytes} bytes beside its names: ` +
        `at most ${limit} are sent (GANTRY_GRAPH_VALUE_LIMIT_BYTES)`,
    );
    this.name = 'MessageTooLarge';
  }
}

export interface ChannelOptions {
  /** Whether to stop reading while the other side doesn't read; only one of the two sides may do this. */
  awaitsReader?: boolean;
  codec?: MessageCodec;
  /** Bytes of the longest message that is read. */
  maxBytes?: number | undefined;
}

/** The bytes are no message: Gantry's code didn't write them. */
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
  private readonly awaitsReader: boolean;
  private readonly codec: MessageCodec;
  private readonly maxBytes: number;

  /**
   * @param onMessage called with each message and its size in bytes
   * @param onCorrupt called once; nothing is read after that
   */
  constructor(
    private readonly socket: Socket,
    private readonly onMessage: (message: unknown, bytes: number) => void,
    private readonly onCorrupt: (error: CorruptMessage) => void,
    { awaitsReader = false, codec = STRUCTURED_CLONE, maxBytes = MAX_BYTES }: ChannelOptions = {},
  ) {
    this.awaitsReader = awaitsReader;
    this.codec = codec;
    this.maxBytes = maxBytes;
    // An error is followed by a close event.
    socket.on('error', () => undefined);
    socket.on('close', () => this.close());
    socket.on('drain', () => (this.isDraining = false));
    socket.on('data', (chunk: Buffer) => this.take(chunk));
  }

  /**
   * A message that can't be sent any more has no reader.
   * @param limit bytes that the other side reads in one message
   * @throws {MessageTooLarge} then nothing is sent
   */
  send(message: unknown, limit = Infinity): void {
    const body = this.codec.encode(message);
    if (body.length > limit) throw new MessageTooLarge(body.length, limit);
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

  /** Writes all messages that `work` sends at once. */
  together(work: () => void): void {
    this.socket.cork();
    try {
      work();
    } finally {
      this.socket.uncork();
    }
  }

  /** Stops reading until the returned function is called; unread data stays with its sender. */
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
    if (length > this.maxBytes) throw new CorruptMessage(`${length} bytes, of at most ${this.maxBytes}`);
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
