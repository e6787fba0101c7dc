import { keepMasked, maskSealed, SEALED_VALUE, UnknownMask } from './secret-values';

const sealed = (name: string): string => `${SEALED_VALUE}${name}`;

describe('a value that a client sends back', () => {
  const servers = [
    { url: 'https://a.example', token: sealed('a') },
    { url: 'https://b.example', token: sealed('b') },
    { url: 'https://c.example', auth: { headers: [{ name: 'x-key', secret: sealed('c') }] } },
  ];
  const [a, b, c] = servers;
  /** An item as the API shows it. */
  const shown = (item: object): object => maskSealed(item);
  const refused = (path: string) => new UnknownMask(path);
  const keep = (given: object, before: object): object => {
    try {
      return keepMasked(given, before, 'context');
    } catch (error) {
      return error as object;
    }
  };

  it('keeps the secrets that it shows as ***, also in lists', () => {
    const before = { token: sealed('t'), servers, nested: { api_key: sealed('n') } };
    expect(keep(shown(before), before)).toEqual(before);
    const given = { token: '***', servers: shown(servers), nested: { api_key: 'new' }, note: 'n' };
    expect(keep(given, before)).toEqual({ token: sealed('t'), servers, nested: { api_key: 'new' }, note: 'n' });
  });

  it.each([
    ['removed', [b, c]],
    ['moved', [c, a, b]],
    ['added', [a, { url: 'https://new.example', token: 'new' }, b, c]],
    ['replaced', [{ url: 'https://a.example', token: 'new' }, b, c]],
  ])('keeps the secrets of the other items of a list when some are %s', (_, items) => {
    expect(keep({ servers: shown(items) }, { servers })).toEqual({ servers: items });
  });

  it('keeps the secrets of the only item that has changed', () => {
    for (const items of [
      [{ ...a, url: 'https://x.example' }, b, c],
      [a, b, { ...c, url: 'https://x.example' }],
    ])
      expect(keep({ servers: shown(items) }, { servers })).toEqual({ servers: items });
  });

  it('finds an item by its content, whatever the order of its keys', () => {
    const given = [{ token: '***', url: 'https://b.example' }];
    expect(keep({ servers: given }, { servers })).toEqual({ servers: [b] });
  });

  it.each([
    [
      'one of two items that have changed',
      [{ ...a, url: 'https://x.example' }, { ...b, n: 1 }, c],
      'context.servers.0.token',
    ],
    [
      'an item that has changed beside a removed one',
      [{ ...a, url: 'https://x.example' }, b],
      'context.servers.0.token',
    ],
    ['an item that had no secret', [a, b, { url: 'https://c.example', token: '***' }], 'context.servers.2.token'],
    ['an item that was not there', [a, b, c, { url: 'https://d.example', token: '***' }], 'context.servers.3.token'],
  ])('is refused where *** in %s may mean the secret of another one', (_, items, path) => {
    expect(keep({ servers: shown(items) }, { servers })).toEqual(refused(path));
    expect(keep({ servers: shown(items) }, {})).toEqual(refused('context.servers.0.token'));
  });

  it('keeps the secrets of items that look the same in their places, and is refused when one is removed', () => {
    const before = { keys: [{ token: sealed('1') }, { token: sealed('2') }] };
    expect(keep(shown(before), before)).toEqual(before);
    expect(keep({ keys: [{ token: '***' }] }, before)).toEqual(refused('context.keys.0.token'));
  });

  it('keeps its lists, whatever was in their place before', () => {
    const given = { tags: ['a', 'b'], tools: [{ name: 'x' }], messages: ['m'] };
    for (const before of [given, { tags: ['c'], tools: [], messages: { 0: 'm' } }, { tags: { 0: 'c' } }, {}, null]) {
      expect(keepMasked(given, before, 'context')).toEqual(given);
    }
  });

  it('is a text of its own where it was no secret before', () => {
    const given = { note: '***', list: ['***', { note: '***' }] };
    expect(keep(given, { note: 'plain', list: {} })).toEqual(given);
  });
});
