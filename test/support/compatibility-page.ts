import { existsSync, readFileSync, writeFileSync } from 'node:fs';
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

/** Fails when docs/compatibility.md says something else than what was seen; GANTRY_WRITE_DOCS has it written instead. */
export function checkPage(served: Served): void {
  const page = pageOf(served);
  if (process.env.GANTRY_WRITE_DOCS) writeFileSync(PAGE, page);
  const compact = (text: string): string => text.replace(/ *\| */g, '|').replace(/-{3,}/g, '---');
  expect(compact(existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : '')).toBe(compact(page));
}

function pageOf({ javascript, python }: Served): string {
  return `# What the clients call

Every method of the newest clients with every parameter, as test/e2e/compatibility.test.ts calls it: where it goes, and
whether it is served. The test fails when a new version of a client has a method or a parameter that it doesn't know, when the
server doesn't take or document what the client sends, and when this page says something else. \`GANTRY_WRITE_DOCS=1\` has it
write the page.

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

function pythonVersion(name: string): string {
  const requirements = readFileSync(join(ROOT, 'test', 'python', 'requirements.txt'), 'utf8');
  return new RegExp(`^${name}(?:\\[.*\\])?==(.*)$`, 'm').exec(requirements)![1];
}

function devServerVersion(): string {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return dependencies['@langchain/langgraph-api'];
}
