import { keepMasked, SEALED_VALUE } from './secret-values';

const sealed = (name: string): string => `${SEALED_VALUE}${name}`;

describe('a value that a client sends back', () => {
  it('keeps the secrets that it shows as ***, also in lists', () => {
    const before = { token: sealed('a'), models: [{ name: 'small', key: sealed('b') }, { key: sealed('c') }] };
    const given = { token: '***', models: [{ name: 'large', key: '***' }, { key: 'new' }] };
    expect(keepMasked(given, before)).toEqual({
      token: sealed('a'),
      models: [{ name: 'large', key: sealed('b') }, { key: 'new' }],
    });
  });

  it('keeps its lists, whatever was in their place before', () => {
    const given = { tags: ['a', 'b'], tools: [{ name: 'x' }], messages: ['m'] };
    for (const before of [given, { tags: ['c'], tools: [], messages: { 0: 'm' } }, { tags: { 0: 'c' } }, {}, null]) {
      expect(keepMasked(given, before)).toEqual(given);
    }
  });

  it('is a text of its own where it was no secret before', () => {
    expect(keepMasked({ note: '***', list: ['***'] }, { note: 'plain', list: {} })).toEqual({
      note: '***',
      list: ['***'],
    });
  });
});
