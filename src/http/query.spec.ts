import { queryFlag } from './query';

describe('a flag in a query string', () => {
  it.each([
    ['1', true],
    ['True', true],
    ['0', false],
    ['', false],
    [['0', '1'], true],
    [['1', '0'], false],
    [undefined, undefined],
  ])('%j is %s', (given, flag) => {
    expect(queryFlag.parse(given)).toBe(flag);
  });
});
