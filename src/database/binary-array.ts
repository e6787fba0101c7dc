const BYTEA_OID = 17;
const TEXT_OID = 25;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

/**
 * A `text[]` of one dimension as a parameter in Postgres' binary format (`array_recv` in its arrayfuncs.c), which pg sends
 * for a Buffer. As text, each quote and backslash of long JSON would be escaped here and undone, a byte at a time, there.
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  const bytesOf = (value: string): number => Buffer.byteLength(value);
  return binaryArray(TEXT_OID, values, bytesOf, (array, value, at) => array.write(value, at));
}

/** A `bytea[]` in the same way: as text, each byte would be two digits. */
export function byteaArray(values: readonly (Buffer | null)[]): Buffer {
  const bytesOf = ({ length }: Buffer): number => length;
  return binaryArray(BYTEA_OID, values, bytesOf, (array, value, at) => value.copy(array, at));
}

/** @param write puts a value at a place, and returns its bytes */
function binaryArray<T extends string | Buffer>(
  oid: number,
  values: readonly (T | null)[],
  bytesOf: (value: T) => number,
  write: (array: Buffer, value: T, at: number) => number,
): Buffer {
  let bytes = HEADER_BYTES;
  for (const value of values) bytes += LENGTH_BYTES + (value === null ? 0 : bytesOf(value));
  const array = Buffer.allocUnsafe(bytes);
  let at = array.writeInt32BE(1, 0); // dimensions
  at = array.writeInt32BE(Number(values.includes(null)), at);
  at = array.writeInt32BE(oid, at);
  at = array.writeInt32BE(values.length, at);
  at = array.writeInt32BE(1, at); // lower bound
  for (const value of values) {
    const length = value === null ? NULL_LENGTH : write(array, value, at + LENGTH_BYTES);
    at = array.writeInt32BE(length, at) + Math.max(length, 0);
  }
  return array;
}
