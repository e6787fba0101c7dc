import { MAX_TEXTS, textsAt } from './embedding-fields';

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
});
