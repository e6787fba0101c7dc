import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GraphSource } from '../graph-config';
import { TypeSchemasCache } from './type-schemas-cache';

describe('the cache of what the compiler read from types', () => {
  let folder: string;
  let kept: string;
  let configPath: string;
  let file: string;
  let asked: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-types-'));
    kept = join(folder, 'kept');
    mkdirSync(join(folder, 'project'));
    configPath = join(folder, 'project', 'langgraph.json');
    file = join(folder, 'project', 'graph.ts');
    writeFileSync(configPath, '{}');
    writeFileSync(file, 'export const graph = 1;');
    asked = 0;
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const source = (): GraphSource => ({ graphId: 'a', file, exportName: 'graph', onUnknown: 'retry' });

  const asNewProcess = (exportName = 'graph'): Promise<string> =>
    new TypeSchemasCache(configPath, [file], kept).get({ ...source(), exportName }, () => {
      asked += 1;
      return Promise.resolve(`"answer ${asked}"`);
    });

  it('asks once for the same code, whichever process asks', async () => {
    expect(await asNewProcess()).toBe('"answer 1"');
    expect(await asNewProcess()).toBe('"answer 1"');
    expect(asked).toBe(1);
  });

  it('asks again for another export', async () => {
    await asNewProcess();
    expect(await asNewProcess('other')).toBe('"answer 2"');
  });

  it('asks again when any file of the project has changed', async () => {
    await asNewProcess();
    writeFileSync(join(folder, 'project', 'state.ts'), 'export type State = { a: string };');
    expect(await asNewProcess()).toBe('"answer 2"');
  });

  it('keeps no failure', async () => {
    const failing = new TypeSchemasCache(configPath, [file], kept);
    await expect(failing.get(source(), () => Promise.reject(new Error('no types')))).rejects.toThrow('no types');
    expect(await asNewProcess()).toBe('"answer 1"');
  });

  it('does without where nothing can be kept', async () => {
    kept = join(file, 'below-a-file');
    expect(await asNewProcess()).toBe('"answer 1"');
    expect(await asNewProcess()).toBe('"answer 2"');
  });
});
