import { blocksOf } from '../../console/src/ui/markdown-blocks';

const blocks = (...parts: string[]): string[] => parts;

describe('blocks of a Markdown text', () => {
  it.each([
    ['paragraphs and headings', blocks('# Title\n', 'One\ntwo\n', 'Three')],
    ['a table and what follows', blocks('| a |\n| - |\n| 1 |\n', 'After')],
    ['a quote and another one', blocks('> One\n', '> Two')],
    ['a fence with empty lines', blocks('Code:\n', '```ts\nconst a = 1;\n\nconst b = 2;\n```\n', 'After')],
    ['a fence in a longer fence', blocks('````\n```\n\n```\n````\n', 'After')],
    ['a fence that is not closed yet', blocks('Code:\n', '```\nconst a = 1;\n\nconst b')],
    ['brackets of which none is a definition', blocks('[a\n', 'b [c]: d')],
    ['inline code of three marks', blocks('```a``` is code\n', 'After')],
  ])('splits %s', (_, parts) => {
    expect(blocksOf(parts.join('\n'))).toEqual(parts);
  });

  it.each([
    ['a list with empty lines', '- One\n\n- Two\n\n  of it\n\n* Three'],
    ['a numbered list', '1. One\n\n2. Two\n\n   ```\n   code\n\n   more\n   ```'],
    ['indented code', '    one\n\n    two'],
    ['a link that is defined elsewhere', 'See [that].\n\nOther\n\n[that]: https://example.com'],
    ['a link whose name has brackets', String.raw`See [a\[1\]].` + '\n\n' + String.raw`[a\[1\]]: https://example.com`],
    ['a footnote', 'A claim.[^1]\n\n[^1]: Its proof'],
    ['HTML over several lines', '<!-- a\n\nb -->\n\nText'],
  ])('keeps %s whole', (_, text) => {
    expect(blocksOf(text)).toEqual([text]);
  });

  it('takes no longer for many open brackets than for other text', () => {
    const text = '[\n'.repeat(200_000);
    expect(blocksOf(text)).toEqual([text]);
  });

  it('leaves the earlier blocks as they are while a text grows', () => {
    const text = '# Title\n\nOne **two** three\n\n- a\n- b\n\n```\nx\n\ny\n```\n\nEnd';
    for (let end = 1; end <= text.length; end += 1) {
      const now = blocksOf(text.slice(0, end));
      expect(now.join('\n')).toBe(text.slice(0, end));
      const next = blocksOf(text.slice(0, end + 1));
      expect(next.slice(0, now.length - 1)).toEqual(now.slice(0, -1));
    }
  });
});
