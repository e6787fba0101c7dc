import { types } from 'pg';
import { BYTEA_ARRAY_OID, fastByteaArrays, parseByteaArray } from './bytea-arrays';

const byPg = types.getTypeParser(BYTEA_ARRAY_OID, 'text');

describe('arrays of bytes', () => {
  it.each([
    ['without elements', '{}'],
    ['of one dimension', String.raw`{"\\x6162","\\x",NULL}`],
    ['of nulls', '{NULL,NULL}'],
    ['that begin with a null', String.raw`{{NULL,"\\x00ff"},{"\\x61","\\x7b7d2c4e554c4c"}}`],
    ['of three dimensions', String.raw`{{{"\\x61"},{"\\x62"}},{{"\\x63"},{NULL}}}`],
    ['with escapes instead of hexadecimal digits', String.raw`{abc,"\\000\\377","{},",NULL}`],
    ['whose escaped bytes look like hexadecimal ones', String.raw`{"\\\\x6162"}`],
  ])('%s are parsed as by pg', (_, text) => {
    expect(parseByteaArray(text)).toEqual(byPg(text));
  });

  it('alone have a parser of their own', () => {
    expect(fastByteaArrays.getTypeParser(BYTEA_ARRAY_OID, 'text')).toBe(parseByteaArray);
    const others = [types.builtins.BYTEA, types.builtins.TEXT, types.builtins.JSONB];
    expect(others.map((oid) => fastByteaArrays.getTypeParser(oid, 'text'))).toEqual(
      others.map((oid) => types.getTypeParser(oid, 'text')),
    );
    expect(fastByteaArrays.getTypeParser(BYTEA_ARRAY_OID, 'binary')).toBe(
      types.getTypeParser(BYTEA_ARRAY_OID, 'binary'),
    );
  });
});
