// npm run docs:settings [-- --check]: writes the table of environment variables in docs/operations.md, from the schemas in
// src/config/settings. With --check it changes nothing, and fails when the table isn't what it would write.
import './services/runtime.mjs';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tsImport } from 'tsx/esm/api';
import { writePage } from './page.mjs';

const PAGE = 'docs/operations.md';
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

const rows = Object.entries(environmentSchema.shape).map(([name, schema]) => {
  const { description } = schema.meta() ?? {};
  if (!description) throw new Error(`src/config/settings: ${name} has no description`);
  return `| \`${name}\` | ${defaultOf(schema)} | ${description} |`;
});

const page = readFileSync(join(import.meta.dirname, '..', PAGE), 'utf8');
const [before, rest] = page.split(BEGIN);
const [, after] = rest.split(END);
const table = ['| name | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
await writePage(PAGE, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`, 'npm run docs:settings');
