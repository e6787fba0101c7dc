import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const files = ['src', 'workflows', 'activities', 'worker']
  .flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
  )
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts') && !file.includes('/migrations/'));

/** Code that has one place, and the places that may have it. */
const ONCE: [what: string, code: RegExp, places: string[]][] = [
  [
    'that a run is in flight, in TypeScript and in SQL',
    /'pending',\s*'running'|'running',\s*'pending'|'pending' \|\|[^;\n]*'running'|'running' \|\|[^;\n]*'pending'/,
    ['src/database/run-status.ts'],
  ],
  [
    'SQLSTATEs of refused and cancelled statements',
    /'(?:23505|23503|57014)'/,
    // Roles of the server are created by several processes at the same moment.
    ['src/database/sql-errors.ts', 'src/database/logins.ts'],
  ],
  ['the tests of SQL errors', /function is(?:Unique|ForeignKey)Violation\b/, ['src/database/sql-errors.ts']],
];

describe('code that is written once', () => {
  it.each(ONCE)('has %s in its place alone', (_what, code, places) => {
    const found = files.filter((file) => code.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(found.sort()).toEqual([...places].sort());
  });
});
