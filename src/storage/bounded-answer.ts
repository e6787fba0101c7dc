import { Transform } from 'node:stream';

/** Size of an answer that is held as a whole. The longest of a store names a thousand objects that it didn't delete. */
export const MAX_ANSWER_BYTES = 1024 * 1024;

/** A store has answered with more than it was asked for. What else it sends isn't read. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge';

  constructor(limit: number) {
    super(`The answer of the store is larger than ${limit} bytes`);
  }
}

/** All bytes of an answer. @throws {AnswerTooLarge} */
export async function bytesOf(body: AsyncIterable<Uint8Array>, limit = MAX_ANSWER_BYTES): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > limit) throw new AnswerTooLarge(limit);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, size);
}

/** The text of an answer; empty where it is none that a store gives. */
export async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  try {
    return (await bytesOf(body)).toString();
  } catch (error) {
    if (error instanceof AnswerTooLarge) return '';
    throw error;
  }
}

/**
 * Bytes `from` to `to` of the answer to a request for them. A store that knows no ranges answers with the whole object, of
 * which no more is held.
 * @param contentRange header that says so otherwise
 * @throws {AnswerTooLarge}
 */
export async function rangeOf(
  body: AsyncIterable<Uint8Array>,
  contentRange: string | undefined,
  from: number,
  to: number,
): Promise<{ data: Uint8Array; size: number }> {
  const whole = /\/(\d+)$/.exec(contentRange ?? '')?.[1];
  if (whole) return { data: await bytesOf(body, to - from), size: Number(whole) };
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    const [start, end] = [Math.max(0, from - size), Math.min(piece.length, to - size)];
    if (start < end) pieces.push(piece.subarray(start, end));
    size += piece.length;
  }
  return { data: Buffer.concat(pieces), size };
}

/** Passes on an answer that a library reads as a whole, and fails beyond the limit. */
export function limited(limit = MAX_ANSWER_BYTES): Transform {
  let size = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      size += piece.length;
      if (size > limit) done(new AnswerTooLarge(limit));
      else done(null, piece);
    },
  });
}
