import { version } from 'langsmith/package.json';
import { checkSection, pythonVersion } from '../compatibility-page';
import type { LangSmithClientName } from './clients';
import { COMPOSED, LOCAL, NOT_CALLED, NOT_SERVED } from './not-served';
import { CLIENT_FAULTS, REFUSED, WITHOUT_EFFECT } from './served';

/** Method → the clients that have it, and the operations that it calls. */
export type Seen = Map<string, { clients: Set<LangSmithClientName>; places: Set<string> }>;

const LANGUAGES: Record<LangSmithClientName, string[]> = {
  javascript: ['JavaScript'],
  sync: ['Python'],
  async: ['Python, asynchronous'],
  resources: ['Python', 'Python, asynchronous'],
};

/** Fails when the part of docs/compatibility.md about LangSmith's clients says something else than what was seen. */
export function checkLangSmithPage(seen: Seen): void {
  checkSection('langsmith', sectionOf(seen));
}

function sectionOf(seen: Seen): string {
  const refused = Object.entries(REFUSED).map(([name, { why }]) => `| \`${name}\` | refused: ${why} |`);
  const idle = Object.entries(WITHOUT_EFFECT).map(([name, why]) => `| \`${name}\` | without effect: ${why} |`);
  const faults = Object.values(CLIENT_FAULTS).flatMap((each) => Object.entries(each));
  return `## LangSmith: \`langsmith\` ${version} for JavaScript, ${pythonVersion('langsmith')} for Python

Every method of both clients and of their resources, as test/e2e/langsmith-contract.test.ts calls it, by its name in Python
(\`runs.query_v2\` is \`runs.queryV2\` in JavaScript). Served with every parameter:

| method | clients | endpoint |
| ------ | ------- | -------- |
${[...seen].map(([method, each]) => `| \`${method}\` | ${languagesOf(each.clients)} | ${[...each.places].sort().map(inCode).join(', ')} |`).join('\n')}

Except for these parameters, wherever a method has them:

| parameter | what becomes of it |
| --------- | ------------------ |
${[...refused, ...idle].join('\n')}

Not served: answered with 404, which the clients report as "not found".

| methods | why |
| ------- | --- |
${NOT_SERVED.map(({ why, methods }) => `| ${[...methods].sort().map(inCode).join(', ')} | ${why} |`).join('\n')}
${faults.map(([method, why]) => `| \`${method}\` of JavaScript | ${why} |`).join('\n')}

Not called by the test: ${[...LOCAL].sort().map(inCode).join(', ')} send nothing of their own; ${COMPOSED.map(inCode).join(', ')} run the
caller's evaluator and report by \`create_feedback\`; ${NOT_CALLED.map(inCode).join(', ')} are about datasets, formulas and insights as
well, and end in the client or need packages of their own.
`;
}

function languagesOf(clients: Set<LangSmithClientName>): string {
  return [...new Set([...clients].flatMap((client) => LANGUAGES[client]))].join('; ');
}

function inCode(text: string): string {
  return `\`${text}\``;
}
