// npm run console:types [-- ADDRESS]: writes the types of Gantry's own API for the console, from the OpenAPI document of a server
// that runs (npm start's, unless another is named). With `--check` it fails when they differ.
import './services/runtime.mjs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { ROOT } from './services/paths.mjs';
import { readFile, writeFile } from 'node:fs/promises';

const FILE = join(ROOT, 'console', 'src', 'api', 'schema.d.ts');
const HEADER = '/** Made from the served OpenAPI document by `npm run console:types`. */\n';

const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true });
const address = positionals[0] ?? 'http://127.0.0.1:2024';
const document = await (await fetch(`${address}/openapi.json`)).json();

/** Removes descriptions: they are in the document, and would be half of this file. @param {any} node @returns {any} */
function withoutTexts(node) {
  if (Array.isArray(node)) return node.map(withoutTexts);
  if (node === null || typeof node !== 'object') return node;
  const entries = Object.entries(node).filter(
    ([key, value]) =>
      !(['description', 'summary', 'title', 'example', 'format', 'pattern'].includes(key) && typeof value === 'string'),
  );
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutTexts(value)]));
}

const text = astToString(await openapiTypescript(withoutTexts(document), { alphabetize: true }));
/** Comments without content need no line. */
const types =
  HEADER + text.replace(/^ *\w+\?: never;\n/gm, '').replace(/^ +/gm, (spaces) => spaces.slice(spaces.length / 2));
if (!values.check) {
  await writeFile(FILE, types);
} else if ((await readFile(FILE, 'utf8')) !== types) {
  console.error(
    'console/src/api/schema.d.ts differs from the served OpenAPI document: run "npm run console:types" against this server',
  );
  process.exitCode = 1;
}
