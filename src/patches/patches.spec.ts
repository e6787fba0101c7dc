import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expectLibrary } from '../../test/support/library-guard';

const FIELDS = ['library', 'patch', 'why', 'upstream', 'remove'];

const files = readdirSync(__dirname, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.includes('/') && file.endsWith('.ts') && !file.endsWith('.spec.ts'),
);

function installed(library: string): string {
  if (library === 'node') return process.versions.node.split('.')[0];
  const manifest = join(__dirname, '..', '..', 'node_modules', library, 'package.json');
  return (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;
}

describe('the patches of libraries', () => {
  it('are found', () => expect(files.length).toBeGreaterThan(10));

  it.each(files)('%s states what it patches, why, and when it can go', (file) => {
    const [header] = readFileSync(join(__dirname, file), 'utf8').split('*/', 1);
    expect(FIELDS.filter((field) => !header.includes(` * @${field} `))).toEqual([]);
  });

  it.each(files)('%s has a guard test', (file) => {
    expect(existsSync(join(__dirname, file.replace(/\.ts$/, '.spec.ts')))).toBe(true);
  });

  it.each(files)('%s was written for the installed version', (file) => {
    const [, library, version] = / \* @library (\S+) (\S+)\n/.exec(readFileSync(join(__dirname, file), 'utf8')) ?? [];
    expectLibrary(
      installed(library) === version,
      `${library} is ${installed(library)}, and src/patches/${file} was written for ${version}: read the library's source at ` +
        'the place that the header names, see whether the patch can go, then change the version in the header.',
    );
  });
});
