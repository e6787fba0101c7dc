// npm run docs:patches [-- --check]: writes docs/decisions/patches.md, the list of the patches of libraries, from the headers of
// the files in src/patches. With --check it changes nothing, and fails when the page isn't what it would write.
import './services/runtime.mjs';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writePage } from './page.mjs';

const ROOT = join(import.meta.dirname, '..');
const PATCHES = join(ROOT, 'src', 'patches');

const INTRO = `# Patches of libraries

Where a library has no setting for what Gantry needs, a file in \`src/patches/<library>/\` replaces a part of it or reads its internals.
No other place of the source may: lint refuses deep imports, casts through \`unknown\`, prototypes and members with a leading
underscore elsewhere.

Each file has a header with the fields below, and a spec beside it that fails with a sentence when the library is no longer
what the patch takes it to be. \`src/patches/patches.spec.ts\` fails when another version of the library is installed than the
header names. After an upgrade, read the library's source at the place that the header names, see whether the patch can go,
and then change the version.

This page is generated from the headers by \`npm run docs:patches\`.
`;

/**
 * The fields of a header: `@name text`, continued on further lines.
 * @param {string} file
 */
function headerOf(file) {
  const [, comment = ''] = /^\/\*\*\n([^]*?)\*\//.exec(readFileSync(join(PATCHES, file), 'utf8')) ?? [];
  const text = comment.replace(/^ \* ?/gm, '').replace(/\s+/g, ' ');
  return Object.fromEntries(
    [...text.matchAll(/@(\w+) (.*?)(?= @(?:library|patch|why|upstream|remove) |\s*$)/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  );
}

const files = readdirSync(PATCHES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.includes('/') && file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .sort();

const sections = files.map((file) => {
  const { library, patch, why, upstream, remove } = headerOf(file);
  const issue = (upstream ?? '').replace(/https:\/\/\S+/g, (url) => `<${url}>`);
  return `
## ${library}: \`${file}\`

${patch}

- **Why:** ${why}
- **Upstream:** ${issue}
- **Can go:** ${remove}
`;
});

await writePage('docs/decisions/patches.md', INTRO + sections.join(''), 'npm run docs:patches');
