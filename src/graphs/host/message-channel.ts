import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';

/** The length of a message, in front of it. */
const HEADER_BYTES = 4;
/** Beyond the largest state that a run emits. */
const MAX_BYTES = 256 * 1024 * 1024;
/** A message is written in one go: what follows a beginning without an end is taken for a part of it, and lost. */
const UNFINISHED_MS = 60_000;

/** Bytes that are no message: whoever wrote them, they were not written by our code. */
export class CorruptMessage extends Error {
  constructor(reason: string) {
    super(`Corrupt message: ${reason}`);
    this.name = 'CorruptMessage';
  }
}

/**
 * Messages between two processes over a socket, serialised as structured clones. Node's own channel does the same, but ends the
 * process that reads bytes that are no message.
 */
export class MessageChannel {
  private pieces: Buffer[] = [];
  private size = 0;
  /** Bytes to read before anything can be done. */
  private needed = HEADER_BYTES;
  private isClosed = false;
  private unfinished: NodeJS.Timeout | undefined;

  /** @param onCorrupt called once; nothing is read after that */
  constructor(
    private readonly socket: Socket,
    private readonly onMessage: (message: unknown) => void,
    private readonly onCorrupt: (error: CorruptMessage) => void,
  ) {
    // What breaks it closes it as well.
    socket.on('error', () => undefined);
    socket.on('close', () => this.close());
    socket.on('data', (chunk: Buffer) => this.take(chunk));
  }

  /** What can't be sent any more has no reader. */
  send(message: unknown): void {
    const body = serialize(message);
    if (this.isClosed) return;
    const header = Buffer.allocUnsafe(HEADER_BYTES);
    header.writeUInt32BE(body.length);
    this.socket.cork();
    this.socket.write(header);
    this.socket.write(body);
    this.socket.uncork();
  }

  private take(chunk: Buffer): void {
    if (this.isClosed) return;
    this.pieces.push(chunk);
    this.size += chunk.length;
    try {
      while (this.size >= this.needed) this.read();
    } catch (error) {
      return this.fail(error instanceof CorruptMessage ? error : new CorruptMessage(String(error)));
    }
    if (this.size === 0) return;
    this.unfinished ??= setTimeout(
      () => this.fail(new CorruptMessage('a message without its end')),
      UNFINISHED_MS,
    ).unref();
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
    clearTimeout(this.unfinished);
  }

  /** Reads a message, or how long the next one is. */
  private read(): void {
    const bytes = this.pieces.length === 1 ? this.pieces[0] : Buffer.concat(this.pieces);
    this.pieces = [bytes];
    const length = bytes.readUInt32BE();
    if (length > MAX_BYTES) throw new CorruptMessage(`${length} bytes, of at most ${MAX_BYTES}`);
    this.needed = HEADER_BYTES + length;
    if (bytes.length < this.needed) return;
    const message: unknown = deserialize(bytes.subarray(HEADER_BYTES, this.needed));
    const rest = bytes.subarray(this.needed);
    this.pieces = [rest];
    this.size = rest.length;
    this.needed = HEADER_BYTES;
    clearTimeout(this.unfinished);
    this.unfinished = undefined;
    this.onMessage(message);
  }
}
