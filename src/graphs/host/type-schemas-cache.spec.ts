import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphSource } from '../../config/langgraph-json';
import { TypeSchemasCache } from './type-schemas-cache';

describe('the cache of schemas that the compiler read from types', () => {
  let folder: string;
  let kept: string;
  let configPath: string;
  let file: string;
  let library: string;
  let asked: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-types-'));
    kept = join(folder, 'kept');
    mkdirSync(join(folder, 'project'));
    configPath = join(folder, 'project', 'langgraph.json');
    file = join(folder, 'project', 'graph.ts');
    library = join(folder, 'library.d.ts');
    writeFileSync(configPath, '{}');
    writeFileSync(library, 'export type Library = 1;');
    writeFileSync(file, 'export const graph = 1;');
    asked = 0;
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const source = (): GraphSource => ({
    graphId: 'a',
    file,
    exportName: 'graph',
    language: 'javascript',
    onUnknown: 'retry',
  });

  const asNewProcess = (exportName = 'graph'): Promise<string> =>
    new TypeSchemasCache(configPath, [file], kept).get({ ...source(), exportName }, () => {
      asked += 1;
      return Promise.resolve({ schemas: `"answer ${asked}"`, files: [file, library] });
    });

  it('compiles the same code once, whichever process asks', async () => {
    expect(await asNewProcess()).toBe('"answer 1"');
    expect(await asNewProcess()).toBe('"answer 1"');
    expect(asked).toBe(1);
  });

  it('compiles again for another export', async () => {
    await asNewProcess();
    expect(await asNewProcess('other')).toBe('"answer 2"');
  });

  it('compiles again when any file of the project has changed', async () => {
    await asNewProcess();
    writeFileSync(join(folder, 'project', 'state.ts'), 'export type State = { a: string };');
    expect(await asNewProcess()).toBe('"answer 2"');
  });

  it('compiles again when a file outside the project that the compiler read has changed or is gone', async () => {
    await asNewProcess();
    writeFileSync(library, 'export type Library = 2;');
    expect(await asNewProcess()).toBe('"answer 2"');
    rmSync(library);
    expect(await asNewProcess()).toBe('"answer 3"');
  });

  it('compiles once when several processes need the same at the same time', async () => {
    expect(await Promise.all([asNewProcess(), asNewProcess()])).toEqual(['"answer 1"', '"answer 1"']);
  });

  it('does not wait for a process that ended during its compilation', async () => {
    const killed = new TypeSchemasCache(configPath, [file], kept);
    let end!: (error: Error) => void;
    const asking = killed.get(source(), () => new Promise((_, reject) => (end = reject)));
    const [lock] = readdirSync(join(kept, 'graph-types')).map((name) => join(kept, 'graph-types', name));
    const longAgo = new Date(Date.now() - 60_000);
    utimesSync(lock, longAgo, longAgo);
    expect(await asNewProcess()).toBe('"answer 1"');
    end(new Error('killed'));
    await expect(asking).rejects.toThrow('killed');
  });

  it('caches no failure', async () => {
    const failing = new TypeSchemasCache(configPath, [file], kept);
    await expect(failing.get(source(), () => Promise.reject(new Error('no types')))).rejects.toThrow('no types');
    expect(await asNewProcess()).toBe('"answer 1"');
  });

  it('works without a cache where nothing can be stored', async () => {
    kept = join(file, 'below-a-file');
    expect(await asNewProcess()).toBe('"answer 1"');
    expect(await asNewProcess()).toBe('"answer 2"');
  });
});
