import { MAX_PLACES, MAX_TEXTS, textsAt } from './embedding-fields';

const value = {
  title: ' Tea ',
  empty: '',
  nothing: null,
  year: 2024,
  author: { name: 'Ada', 'odd name': 'x' },
  chapters: [{ text: 'one' }, { text: 'two', notes: ['a', 'b'] }, {}],
  matrix: [
    ['1', '2'],
    ['3', '4'],
  ],
};

describe('textsAt', () => {
  it.each<[string, Record<string, string>]>([
    ['$', { $: JSON.stringify(value) }],
    ['title', { title: 'Tea' }],
    ['$.title', { title: 'Tea' }],
    ['year', { year: '2024' }],
    ['author', { author: '{"name":"Ada","odd name":"x"}' }],
    ['author.name', { 'author.name': 'Ada' }],
    ['author.odd name', { 'author.odd name': 'x' }],
    ['chapters[0].text', { 'chapters[0].text': 'one' }],
    ['chapters[-2].text', { 'chapters[1].text': 'two' }],
    ['chapters[*].text', { 'chapters[0].text': 'one', 'chapters[1].text': 'two' }],
    ['chapters[*].notes[*]', { 'chapters[1].notes[0]': 'a', 'chapters[1].notes[1]': 'b' }],
    ['matrix[1][0]', { 'matrix[1][0]': '3' }],
    ['empty', {}],
    ['nothing', {}],
    ['absent', {}],
    ['absent.deeper', {}],
    ['chapters[9].text', {}],
    ['chapters[x]', {}],
    ['title[0]', {}],
    ['constructor', {}],
  ])('%s', (path, expected) => {
    expect(Object.fromEntries(textsAt(value, [path]).map(({ field, text }) => [field, text]))).toEqual(expected);
  });

  it('returns a text once when several paths lead to it', () => {
    expect(textsAt(value, ['chapters[0].text', 'chapters[*].text', 'title'])).toEqual([
      { field: 'chapters[0].text', text: 'one' },
      { field: 'chapters[1].text', text: 'two' },
      { field: 'title', text: 'Tea' },
    ]);
  });

  it('returns no more texts than can be embedded at once', () => {
    const many = { list: Array.from({ length: MAX_TEXTS + 5 }, (_, index) => `t${index}`) };
    expect(textsAt(many, ['list[*]'])).toHaveLength(MAX_TEXTS);
  });

  it('looks at so many values, however many paths lead to more', () => {
    let looks = 0;
    const list = new Proxy(Array<null>(400_000).fill(null), {
      get: (target, key) => {
        if (key !== 'length') looks += 1;
        return Reflect.get(target, key) as unknown;
      },
    });
    const lists = Array.from({ length: 100 }, (_, count) => `list[*]${'.a'.repeat(count)}`);
    expect(textsAt({ list }, lists)).toEqual([]);
    expect(looks).toBeLessThanOrEqual(MAX_PLACES);
    looks = 0;
    expect(textsAt({ list }, [`list${'[*]'.repeat(100_000)}`, ...lists])).toEqual([]);
    expect(looks).toBeLessThanOrEqual(MAX_PLACES);
  });

  it('reads so many characters, and each value once, however many paths lead to it', () => {
    let reads = 0;
    const read = (text: string) => ({ toJSON: () => ((reads += 1), text) });
    const large = { a: { b: { c: read('x'.repeat(9_000_000)) } } };
    const dotted = Array.from({ length: 90 }, (_, dots) => `$.a${'.'.repeat(dots)}`);
    expect(textsAt(large, ['a', 'a.', 'a.b', 'a.b.', 'a.b.c', ...dotted]).map(({ field }) => field)).toEqual(['a']);
    // The second one was too long.
    expect(reads).toBe(2);
    reads = 0;
    expect(textsAt({ tea: read('Tea') }, ['tea', 'tea.', '$.tea'])).toHaveLength(1);
    expect(reads).toBe(1);
  });
});
