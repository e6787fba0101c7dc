import { isAccepted } from './a2a-content';

describe('a mode that a client accepts', () => {
  it.each([
    ['text/plain', ['text/plain'], true],
    ['text/plain; charset=utf-8', ['TEXT/*'], true],
    ['application/json', ['data'], true],
    ['image/png', ['file'], true],
    ['image/png', ['text', 'json'], false],
    ['image/png', ['constructor', 'toString', '__proto__', ''], false],
  ])('decides about %s: %j', (mediaType, modes, isOne) => {
    expect(isAccepted(mediaType, modes)).toBe(isOne);
  });
});
