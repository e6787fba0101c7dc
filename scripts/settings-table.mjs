// npm run docs:settings [-- --check]: writes the tables of environment variables, from the schemas in src/config/settings: all in
// docs/operations.md, those of a feature in its page. With --check it changes nothing, and fails when a table isn't what it would write.
import './services/runtime.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { writePage } from './page.mjs';

/** The page with every variable; descriptions link to its sections. */
const ALL = 'operations.md';
/** Pages, each with what the names of its variables match. @type {[page: string, names: RegExp][]} */
const PAGES = [
  [ALL, /^/],
  ['webhooks.md', /^GANTRY_WEBHOOK_/],
  ['python.md', /^GANTRY_(PYTHON$|GRAPH_)/],
];
const BEGIN = '<!-- settings: written by npm run docs:settings -->';
const END = '<!-- end of the settings -->';

const { environmentSchema } = await tsImport('../src/config/environment.ts', import.meta.url);

/**
 * A variable's default as it is written in the environment.
 * @param {import('zod').ZodType} schema
 */
function defaultOf(schema) {
  const { shownDefault } = schema.meta() ?? {};
  if (shownDefault !== undefined) return shownDefault;
  const { success, data } = schema.safeParse(undefined);
  if (!success) return 'required';
  if (data === undefined) return '';
  if (typeof data === 'boolean') return data ? 'on' : 'off';
  return String(data);
}

/** @param {string} page @param {RegExp} names */
function tableOf(page, names) {
  const rows = Object.entries(environmentSchema.shape)
    .filter(([name]) => names.test(name))
    .map(([name, schema]) => {
      const { description } = schema.meta() ?? {};
      if (!description) throw new Error(`src/config/settings: ${name} has no description`);
      const meaning = page === ALL ? description : description.replaceAll('](#', `](${ALL}#`);
      return `| \`${name}\` | ${defaultOf(schema)} | ${meaning} |`;
    });
  return ['| name | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

for (const [page, names] of PAGES) {
  const name = `docs/${page}`;
  const [before, rest] = readFileSync(join(import.meta.dirname, '..', name), 'utf8').split(BEGIN);
  const [, after] = rest.split(END);
  await writePage(name, `${before}${BEGIN}\n\n${tableOf(page, names)}\n\n${END}${after}`, 'npm run docs:settings');
}
