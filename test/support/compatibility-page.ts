import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '@langchain/langgraph-sdk/package.json';
import { CONTRACT } from './client-contract';
import { KNOWN_DIFFERENCES } from './control-differences';

const ROOT = join(__dirname, '..', '..');
const PAGE = join(ROOT, 'docs', 'compatibility.md');

/** Method → the operations that it calls. */
export interface Served {
  javascript: Map<string, Set<string>>;
  python: Map<string, Set<string>>;
}

/** Fails when docs/compatibility.md differs from the results for the LangGraph clients. */
export function checkPage(served: Served): void {
  checkSection('langgraph', sectionOf(served));
}

/**
 * Compares a section of docs/compatibility.md with what a test saw; GANTRY_WRITE_DOCS has it written instead.
 * @param name of the section: it stands between two comments with that name
 */
export function checkSection(name: string, text: string): void {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`];
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = page.split(begin);
  const [section, after] = rest.split(end);
  if (process.env.GANTRY_WRITE_DOCS) writeFileSync(PAGE, `${before}${begin}\n\n${text}\n${end}${after}`);
  else expect(compact(section)).toBe(compact(text));
}

/** Text without the padding that formatting adds to a table. */
function compact(text: string): string {
  return text
    .replace(/ *\| */g, '|')
    .replace(/-{3,}/g, '---')
    .trim();
}

function sectionOf({ javascript, python }: Served): string {
  return `Every method of the newest clients with every parameter, as test/e2e/compatibility.test.ts calls it: where it goes, and
whether it is served.

## JavaScript: \`@langchain/langgraph-sdk\` ${version}

${methodTable(javascript)}

## Python: \`langgraph-sdk\` ${pythonVersion('langgraph-sdk')}, both the asynchronous and the synchronous client

${methodTable(python)}

## Differences from the JavaScript dev server

The same calls run against \`@langchain/langgraph-api\` ${devServerVersion()} with the same graphs. The test compares status, types of
the answer and sequence of events, and fails on a difference that is not listed here. A line names the method, the place in the
answer, and what stands there in Gantry and in the dev server; \`–\` is nothing, \`*\` any text.

| reason | difference: Gantry \\| dev server |
| ------ | -------------------------------- |
${KNOWN_DIFFERENCES.map(({ differences, reason }) => `| ${reason} | ${differences.map(inCode).join('<br>')} |`).join('\n')}
`;
}

function inCode(difference: string): string {
  return `\`${difference.replaceAll('|', '\\|')}\``;
}

function methodTable(served: Map<string, Set<string>>): string {
  const lines = [...served].map(([name, places]) => {
    const refused = CONTRACT[name]?.refused;
    const where = [...places].sort().map((place) => `\`${place}\``);
    return `| \`${name}\` | ${where.join(', ')} | ${refused ? `no: ${refused.why}` : 'yes'} |`;
  });
  return ['| method | endpoint | served |', '| ------ | -------- | ------ |', ...lines].join('\n');
}

/** Version of a Python package that the tests install. */
export function pythonVersion(name: string): string {
  const requirements = readFileSync(join(ROOT, 'test', 'python', 'requirements.txt'), 'utf8');
  return new RegExp(`^${name}(?:\\[.*\\])?==(.*)$`, 'm').exec(requirements)![1];
}

function devServerVersion(): string {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return dependencies['@langchain/langgraph-api'];
}
