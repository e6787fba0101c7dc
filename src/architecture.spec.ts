import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

const IMPORT = /^(?:import|export)\b[^;]*?from '(\.[^']+)';$/gms;

/** The files of src, each with those that it imports. */
function readImports(): Map<string, string[]> {
  const files = readdirSync(__dirname, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
  );
  return new Map(
    files.map((file) => {
      const found = [...readFileSync(join(__dirname, file), 'utf8').matchAll(IMPORT)].map(
        ([, specifier]) => `${join(dirname(file), specifier)}.ts`,
      );
      return [file, found.filter((each) => !each.startsWith('..') && existsSync(join(__dirname, each)))];
    }),
  );
}

/** The shortest way back from a file to itself along its imports. */
function circleFrom(start: string, imports: Map<string, string[]>): string[] | undefined {
  const cameFrom = new Map<string, string>();
  const queue = [start];
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    for (const next of imports.get(file) ?? []) {
      if (next === start) {
        const circle = [file];
        while (circle[0] !== start) circle.unshift(cameFrom.get(circle[0])!);
        return circle;
      }
      if (!cameFrom.has(next)) {
        cameFrom.set(next, file);
        queue.push(next);
      }
    }
  }
  return undefined;
}

describe('the imports of src', () => {
  const imports = readImports();

  it('are found', () => {
    expect(imports.get('api.ts')).toContain(relative('.', join('config', 'config.ts')));
  });

  it('make no circle of files', () => {
    const circles = [...imports.keys()].flatMap((file) => [circleFrom(file, imports)]).filter(Boolean);
    expect(circles).toEqual([]);
  });

  it('join no two folders in both directions', () => {
    const folderOf = (file: string): string => file.split(sep)[0];
    const ways = new Map<string, string>();
    for (const [file, found] of imports) {
      for (const other of found) {
        const [from, to] = [folderOf(file), folderOf(other)];
        if (from !== to) ways.set(`${from} → ${to}`, `${file} imports ${other}`);
      }
    }
    const mutual = [...ways].filter(([way]) => {
      const [from, to] = way.split(' → ');
      return ways.has(`${to} → ${from}`);
    });
    expect(mutual).toEqual([]);
  });
});
