import { extract, extractSchema } from './thread-extract';

const roots = {
  values: { messages: [{ content: 'first' }, { content: 'last', _secret: 'no' }], grid: [[1, 2], [3]] },
  metadata: { user: { name: 'Ada' } },
  config: {},
  interrupts: {},
};

describe('extract', () => {
  it.each([
    ['values.messages[0].content', 'first'],
    ['values.messages[-1].content', 'last'],
    ['values.grid[0][1]', 2],
    ['metadata.user.name', 'Ada'],
    ['values.messages[7].content', null],
    ['values.nothing.at.all', null],
    ['values.messages[-1]._secret', null],
    ['values.messages.length', null],
    ['values.constructor', null],
  ])('%s is %p', (path, value) => {
    expect(extract(roots, { it: path })).toEqual({ it: value });
  });

  const schema = extractSchema(['status']);

  it.each([
    [{ '1st': 'values.a' }],
    [{ 'a-b': 'values.a' }],
    [{ status: 'values.a' }],
    [{ a: 'kwargs.a' }],
    [{ a: 'values..a' }],
    [{ a: 'values[x]' }],
    [{ a: '' }],
    [Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`a${index}`, 'values.a']))],
  ])('refuses %j', (paths) => {
    expect(schema.safeParse(paths).success).toBe(false);
  });
});
