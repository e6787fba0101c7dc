import { unescapedTarget } from './unescaped-target';

describe('unescapedTarget', () => {
  it.each([
    ['/hello/you?x=%2F', '/hello/you?x=%2F'],
    ['/admin%2Fkeys', '/admin/keys'],
    ['/public/..%2Fadmin', '/admin'],
    ['/public%2f%2e%2e%2fadmin', '/admin'],
    ['/public/%252e%252e/admin', '/public/%252e%252e/admin'],
    ['/a%252Fb', '/a%252Fb'],
    ['/a%3Fb%23c', '/a%3Fb%23c'],
    ['/a%5C..%5Cb', '/a%5C..%5Cb'],
    ['/z%C3%BCrich', '/z%C3%BCrich'],
    ['/a%ff/b', '/a%EF%BF%BD/b'],
    ['/a%2', '/a%252'],
    ['/%2Fhello', '//hello'],
  ])('reads %s as %s', (target, read) => {
    expect(unescapedTarget(target)).toBe(read);
    expect(unescapedTarget(read)).toBe(read);
  });
});
