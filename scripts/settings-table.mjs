// npm run docs:settings [-- --check]: writes the tables of environment variables, from the schemas in src/config/settings: all in
// docs/operations.md, those of a feature in its page. With --check it changes nothing, and fails when a table isn't what it would write.
import './services/runtime.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { writePage } from './page.mjs';

/** Pages, each with the beginning of the names of its variables. @type {[page: string, prefix: string][]} */
const PAGES = [
  ['docs/operations.md', ''],
  ['docs/webhooks.md', 'GANTRY_WEBHOOK_'],
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

/** @param {string} prefix of the names */
function tableOf(prefix) {
  const rows = Object.entries(environmentSchema.shape)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, schema]) => {
      const { description } = schema.meta() ?? {};
      if (!description) throw new Error(`src/config/settings: ${name} has no description`);
      return `| \`${name}\` | ${defaultOf(schema)} | ${description} |`;
    });
  return ['| name | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
}

for (const [name, prefix] of PAGES) {
  const page = readFileSync(join(import.meta.dirname, '..', name), 'utf8');
  const [before, rest] = page.split(BEGIN);
  const [, after] = rest.split(END);
  await writePage(name, `${before}${BEGIN}\n\n${tableOf(prefix)}\n\n${END}${after}`, 'npm run docs:settings');
}
