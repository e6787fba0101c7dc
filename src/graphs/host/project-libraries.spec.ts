import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildsOf, isCommonJs } from './project-libraries';

describe('the builds of a library', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-project-'));
  const place = (path: string, text = ''): string => {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
    return full;
  };

  beforeAll(() => {
    place('plain/package.json', '{}');
    place('plain/node_modules/none/package.json', 'no JSON');
    place('modern/package.json', '{"type":"module"}');
    for (const project of ['plain', 'modern']) {
      const library = join(project, 'node_modules', 'both');
      place(join(library, 'package.json'), '{"exports":{"import":"./index.js","require":"./index.cjs"}}');
      place(join(library, 'index.cjs'));
      place(join(library, 'index.js'));
      place(join(project, 'node_modules', 'old', 'index.js'));
    }
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it.each([
    ['plain/src/graph.ts', true],
    ['plain/src/graph.js', true],
    ['plain/graph.mts', false],
    ['plain/graph.mjs', false],
    ['plain/node_modules/none/graph.js', true],
    ['modern/src/graph.ts', false],
    ['modern/graph.tsx', false],
    ['modern/graph.cts', true],
    ['modern/graph.cjs', true],
  ])('are CommonJS for %s: %s', (path, expected) => {
    expect(isCommonJs(join(folder, path))).toBe(expected);
  });

  it('begin with the one that a module of this kind loads', () => {
    const names = (path: string): string[] => buildsOf(join(folder, path), 'both').map((url) => url.split('/').pop()!);
    expect(names('plain/graph.ts')).toEqual(['index.cjs', 'index.js']);
    expect(names('plain/graph.mts')).toEqual(['index.js', 'index.cjs']);
    expect(names('modern/graph.ts')).toEqual(['index.js', 'index.cjs']);
  });

  it('are one where the library has one, and none where the project does not have the library', () => {
    expect(buildsOf(join(folder, 'plain/graph.ts'), 'old')).toEqual([
      expect.stringMatching(/plain\/node_modules\/old\/index\.js$/),
    ]);
    expect(buildsOf(join(folder, 'plain/graph.ts'), 'missing')).toEqual([]);
  });
});
