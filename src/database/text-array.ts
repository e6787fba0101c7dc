const TEXT_OID = 25;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;

/**
 * A `text[]` of one dimension as a parameter in Postgres' binary format (`array_recv` in its arrayfuncs.c), which pg sends
 * for a Buffer. As text, each quote and backslash of long JSON would be escaped here and undone, a byte at a time, there.
 */
export function textArray(values: readonly (string | null)[]): Buffer {
  let bytes = HEADER_BYTES;
  for (const value of values) bytes += LENGTH_BYTES + (value === null ? 0 : Buffer.byteLength(value));
  const array = Buffer.allocUnsafe(bytes);
  let at = array.writeInt32BE(1, 0); // dimensions
  at = array.writeInt32BE(Number(values.includes(null)), at);
  at = array.writeInt32BE(TEXT_OID, at);
  at = array.writeInt32BE(values.length, at);
  at = array.writeInt32BE(1, at); // lower bound
  for (const value of values) {
    const length = value === null ? NULL_LENGTH : array.write(value, at + LENGTH_BYTES);
    at = array.writeInt32BE(length, at) + Math.max(length, 0);
  }
  return array;
}
