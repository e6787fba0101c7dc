import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';

/** Imports and exports, of types as well, and what is loaded later by `import()` or `require()`. */
const IMPORT = /^(?:import|export)\b[^;]*?from '(\.[^']+)';$|\b(?:import|require)\('(\.[^']+)'\)/gms;

/** The files of src, each with those that it imports. */
function readImports(): Map<string, string[]> {
  const files = readdirSync(__dirname, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'),
  );
  return new Map(
    files.map((file) => {
      const found = [...readFileSync(join(__dirname, file), 'utf8').matchAll(IMPORT)].map(
        ([, atOnce, later]) => `${join(dirname(file), (atOnce ?? later).replace(/\.js$/, ''))}.ts`,
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

/**
 * The folders of src from the bottom up. Each may import those of earlier lines only, and none of its own line: the platform
 * knows no feature, and a feature knows none that follows it. A new folder goes where what it imports is below it.
 */
const LAYERS = [
  // Platform
  ['patches', 'discovery', 'network', 'sweeps', 'time'],
  ['config'],
  ['crypto', 'telemetry'],
  ['metrics'],
  ['database'],
  ['http', 'item-store', 'streams'],
  ['runnable-config', 'graphs'],
  ['temporal', 'auth', 'encryption'],
  ['storage', 'custom-app', 'audit'],
  ['server'],
  // Features
  ['assistants', 'threads', 'store', 'traces', 'ui', 'webhooks', 'system'],
  ['runs'],
  // Features that follow runs
  ['a2a', 'assistant-removal', 'crons', 'event-protocol', 'exports', 'mcp'],
  ['truncation', 'cli'],
  // Processes
  ['.'],
];

/** Imports against the layers, each with its reason. There may be three at most. */
const UPWARD: Record<string, string> = {
  'config/default-configs.ts → runnable-config/runnable-config.schemas.ts':
    'LANGGRAPH_CONFIG has the shape that requests have, and the same keys are left out of it',
};

const folderOf = (file: string): string => dirname(file).split(sep)[0];

describe('the imports of src', () => {
  const imports = readImports();

  it('are found', () => {
    expect(imports.get('api.ts')).toContain(relative('.', join('config', 'config.ts')));
    expect(imports.get(join('telemetry', 'start-telemetry.ts'))).toContain(join('telemetry', 'otlp-telemetry.ts'));
  });

  it('make no circle of files', () => {
    const circles = [...imports.keys()].flatMap((file) => [circleFrom(file, imports)]).filter(Boolean);
    expect(circles).toEqual([]);
  });

  it('join folders in one direction, from an upper layer to a lower one', () => {
    const layers = new Map(LAYERS.flatMap((folders, layer) => folders.map((folder) => [folder, layer] as const)));
    const folders = new Set([...imports.keys()].map(folderOf));
    expect([...folders].filter((folder) => !layers.has(folder))).toEqual([]);
    const upward = [...imports].flatMap(([file, found]) =>
      found
        .filter((other) => folderOf(file) !== folderOf(other))
        .filter((other) => layers.get(folderOf(file))! <= layers.get(folderOf(other))!)
        .map((other) => `${file} → ${other}`),
    );
    expect(upward.sort()).toEqual(Object.keys(UPWARD).sort());
    expect(upward.length).toBeLessThanOrEqual(3);
  });
});
