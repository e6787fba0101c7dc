import { TypeOverrides, types } from 'pg';

/** pg's list of types lacks the arrays that its parsers know. */
export const BYTEA_ARRAY_OID = 1001 as Parameters<typeof types.getTypeParser>[0];
/** A `bytea[]` whose elements are written in hexadecimal, as they are unless the setting `bytea_output` is `escape`. */
const HEXADECIMAL = /^(?:[{},]|NULL)*(?:"\\\\x|$)/;

const parseAny = types.getTypeParser(BYTEA_ARRAY_OID, 'text') as (text: string) => Elements;

type Elements = (Buffer | null | Elements)[];

/**
 * Parsers of pg with a faster one for `bytea[]`. pg's own serves arrays of every type, and looks at each character of them;
 * an array of bytes in hexadecimal is JSON but for its brackets and nulls.
 */
export const fastByteaArrays = new TypeOverrides();
fastByteaArrays.setTypeParser(BYTEA_ARRAY_OID, 'text', parseByteaArray);

/** @param text an array of any number of dimensions, as Postgres writes it */
export function parseByteaArray(text: string): Elements {
  if (!HEXADECIMAL.test(text)) return parseAny(text);
  const json = text.replaceAll('{', '[').replaceAll('}', ']').replaceAll('NULL', 'null');
  return decoded(JSON.parse(json) as Texts);
}

type Texts = (string | null | Texts)[];

function decoded(elements: Texts): Elements {
  return elements.map((element) => {
    if (typeof element === 'string') return Buffer.from(element.slice('\\x'.length), 'hex');
    return element && decoded(element);
  });
}
