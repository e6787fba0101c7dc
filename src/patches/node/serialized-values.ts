/**
 * @library node 24
 * @patch Reads the format of `v8.serialize`, as far as plain values use it, to count the values before they are made.
 * @why A few megabytes of what another process wrote become gigabytes of objects; `v8.deserialize` knows no limit, and what it
 * runs out of is the memory of the whole process.
 * @upstream https://github.com/v8/v8/blob/main/src/objects/value-serializer.cc
 * @remove When `v8.Deserializer` takes a limit, or messages of user code are no longer sent in this format.
 */

const HEADER = 0xff;
/** Values that have no content: true, false, undefined, null, holes, padding; and the begin of an object. */
const BARE = new Set([...'TF_0-o'].map((tag) => tag.charCodeAt(0)).concat(0));
/** Tags that some variable-length numbers follow. */
const NUMBERS: Record<string, number> = { I: 1, U: 1, a: 1, '^': 1, '{': 1, $: 2, '@': 2 };
/** Tags that as many bytes follow as a variable-length number says. */
const TEXTS = new Set([...'"cS'].map((tag) => tag.charCodeAt(0)));
/** A list whose length follows: room for so many is made before they are read. */
const LIST = 'A'.charCodeAt(0);
const NUMBER = 'N'.charCodeAt(0);
const DATE = 'D'.charCodeAt(0);
const BIGINT = 'Z'.charCodeAt(0);
/** Bytes, as Node writes them: the kind of array and the length, each as a number. */
const BYTES = '\\'.charCodeAt(0);
const COUNTS = new Map(Object.entries(NUMBERS).map(([tag, count]) => [tag.charCodeAt(0), count]));

/**
 * Counts the values of a serialized message, names of properties included, in one pass that makes nothing of them.
 * @throws {Error} where there are more of them than `most`, or others than plain ones: objects, lists, texts, numbers, dates, bytes
 */
export function countSerialized(bytes: Buffer, most: number): number {
  let at = 0;
  let count = 0;
  const number = (): number => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes[at];
      at += 1;
      value += (byte & 0x7f) * 2 ** shift;
      if (!(byte & 0x80)) return value;
    }
    throw new Error('a number that is too long');
  };
  const skip = (length: number): void => {
    at += length;
  };
  while (at < bytes.length) {
    const tag = bytes[at];
    at += 1;
    count += 1;
    if (count > most) throw new Error(`more than ${most} values`);
    const numbers = COUNTS.get(tag);
    if (tag === LIST) count += number();
    else if (numbers !== undefined) for (let left = numbers; left > 0; left -= 1) number();
    else if (TEXTS.has(tag)) skip(number());
    else if (tag === NUMBER || tag === DATE) skip(8);
    else if (tag === BIGINT) skip(number() >>> 1);
    else if (tag === BYTES) {
      number();
      skip(number());
    } else if (tag === HEADER) number();
    else if (!BARE.has(tag)) throw new Error(`a value of the kind 0x${tag.toString(16)}`);
  }
  return count;
}
