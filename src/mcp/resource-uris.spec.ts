import { itemTemplate, parseUri, type ResourceAddress, toUri } from './resource-uris';

describe('the URI of a resource', () => {
  it.each<[ResourceAddress, string]>([
    [{ threadId: '0199aaaa-0000-7000-8000-000000000001' }, 'gantry://threads/0199aaaa-0000-7000-8000-000000000001'],
    [{ namespace: ['memories', 'a/b c'], key: '' }, 'gantry://store/memories/a%2Fb%20c/'],
    [{ namespace: ['notes'], key: 'ä {x}?#' }, 'gantry://store/notes/%C3%A4%20%7Bx%7D%3F%23'],
  ])('of %j is %s, and back', (address, uri) => {
    expect(toUri(address)).toBe(uri);
    expect(parseUri(uri)).toEqual(address);
  });

  it.each([
    '',
    'gantry://threads/',
    'gantry://store/',
    'gantry://store/key',
    'file:///etc/passwd',
    'gantry://store/a/%',
  ])('is not %j', (uri) => expect(parseUri(uri)).toBeUndefined());

  it('has a template for each namespace', () => {
    expect(itemTemplate(['a b', 'c'])).toBe('gantry://store/a%20b/c/{key}');
  });
});
