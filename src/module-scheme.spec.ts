import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * The scheme of modules: `<feature>.module.ts` has what both processes and the command line share, `<feature>-api.module.ts`
 * the controllers and what only requests need, `<feature>-worker.module.ts` executors and sweeps. The feature is the folder.
 */
const ROOT = join(__dirname, '..');

/** Modules for a part of a feature, each with its reason. */
const PARTS: Record<string, string> = {
  'src/app.module.ts': 'the api process',
  'src/auth/custom/custom-auth.module.ts':
    'services whose resources custom auth decides about need it without the guard',
  'src/auth/entitlements.module.ts': 'the worker asks what a tenant may use, and has no guard',
  'src/auth/tenants.module.ts': 'the command line manages tenants and has no guard',
  'src/runs/explanation/run-explanation.module.ts': 'the command line explains runs and has no graphs',
};

const files = ['src', 'worker', 'activities']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((f) => join(folder, f)),
  )
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'));
const textOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const modules = files.filter((file) => file.endsWith('.module.ts'));
const half = (file: string): string => /-(api|worker)\.module\.ts$/.exec(file)?.[1] ?? 'shared';

/** The classes that carry a decorator. */
function decorated(decorator: string): string[] {
  const pattern = new RegExp(`^@${decorator}\\(.*?^export class (\\w+)`, 'gms');
  return files.flatMap((file) => [...textOf(file).matchAll(pattern)].map(([, name]) => name));
}

/** The modules that list a class, among providers or controllers. */
function listing(name: string, list: 'controllers' | 'providers'): string[] {
  return modules.filter((file) => {
    const [, names = ''] = new RegExp(`^\\s*(?:@Module.*)?\\b${list}: \\[(.*?)\\]`, 'ms').exec(textOf(file)) ?? [];
    return new RegExp(`\\b${name}\\b`).test(names);
  });
}

describe('the modules', () => {
  it('are named after their feature and their half', () => {
    const misnamed = modules.filter((file) => {
      const feature = basename(file).replace(/(-api|-worker)?\.module\.ts$/, '');
      return !(file in PARTS) && feature !== basename(dirname(file));
    });
    expect(misnamed).toEqual([]);
    expect(Object.keys(PARTS).filter((file) => !modules.includes(file))).toEqual([]);
  });

  it('are one class per file, named like the file', () => {
    const pascal = (file: string): string =>
      basename(file, '.ts').replace(/(?:^|[-.])(\w)/g, (_, letter: string) => letter.toUpperCase());
    for (const file of modules) {
      const classes = [...textOf(file).matchAll(/^@Module\(.*?^export class (\w+)/gms)].map(([, name]) => name);
      expect([file, classes]).toEqual([file, [pascal(file)]]);
    }
  });

  it('have each controller in one -api module', () => {
    const controllers = decorated('(?:Aliased)?Controller');
    expect(controllers).toContain('RunsController');
    for (const name of controllers) {
      const found = listing(name, 'controllers');
      expect([name, found.length, found.map(half)]).toEqual([name, 1, ['api']]);
    }
  });

  it('have each sweep in one -worker module, in an order without ties', () => {
    const sweeps = decorated('Sweeps');
    expect(sweeps).toContain('RunSweep');
    for (const name of sweeps) {
      const found = listing(name, 'providers');
      expect([name, found.length, found.map(half)]).toEqual([name, 1, ['worker']]);
    }
    const places = files.flatMap((file) => [...textOf(file).matchAll(/^@Sweeps\((\d+)\)/gm)].map(([, place]) => place));
    expect(new Set(places).size).toBe(places.length);
    const implementing = files.filter((file) => /\bimplements\b[^{]*\bSweep\b/.test(textOf(file)));
    expect(implementing).toHaveLength(sweeps.length);
  });

  it('have each provider of activities in the worker', () => {
    const activities = decorated('Activities');
    expect(activities).toContain('RunActivityProvider');
    for (const name of activities)
      expect([name, listing(name, 'providers')]).toEqual([name, ['worker/worker.module.ts']]);
  });

  it('depend in one direction: neither half is imported by the shared module or by the other half', () => {
    const wrong = modules
      .filter((file) => file !== 'src/app.module.ts' && file !== 'worker/worker.module.ts')
      .flatMap((file) =>
        [...textOf(file).matchAll(/from '[^']+(-(?:api|worker)\.module)'/g)]
          .filter(([, other]) => half(`${other}.ts`) !== half(file))
          .map(([line]) => `${file}: ${line}`),
      );
    expect(wrong).toEqual([]);
  });
});
