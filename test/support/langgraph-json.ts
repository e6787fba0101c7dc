import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { TEST_GRAPHS } from './gantry';

export interface TemporaryConfig {
  path: string;
  folder: string;
  remove(): void;
}

/** A langgraph.json with the graphs of the tests and sections of a test's own. */
export function temporaryConfig(sections: Record<string, unknown>): TemporaryConfig {
  const { graphs } = JSON.parse(readFileSync(TEST_GRAPHS, 'utf8')) as {
    graphs: Record<string, string | { path: string }>;
  };
  const absolute = (path: string): string => resolve(dirname(TEST_GRAPHS), path);
  const folder = mkdtempSync(join(tmpdir(), 'gantry-config-'));
  const path = join(folder, 'langgraph.json');
  const resolved = Object.fromEntries(
    Object.entries(graphs).map(([name, entry]) => [
      name,
      typeof entry === 'string' ? absolute(entry) : { ...entry, path: absolute(entry.path) },
    ]),
  );
  writeFileSync(path, JSON.stringify({ graphs: resolved, ...sections }));
  return { path, folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
