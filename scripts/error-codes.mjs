// npm run docs:errors [-- --check]: writes docs/errors.md, the table of the codes in error bodies, from the places in the
// source that make an ApiError. With --check it changes nothing, and fails when the page isn't what it would write.
import './services/runtime.mjs';
import { readdirSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import ts from 'typescript';
import { writePage } from './page.mjs';

const ROOT = join(import.meta.dirname, '..');
const SOURCE = join(ROOT, 'src');

const INTRO = `# Errors

Every error answer of the API is one JSON object:

\`\`\`json
{ "detail": "limit: must be 1000 or less", "code": "invalid_request", "errors": [{ "path": "limit", "message": "must be 1000 or less" }] }
\`\`\`

- \`detail\` is one sentence for people. Its words may change between releases.
- \`code\` stays the same between releases: programs compare it, beside the HTTP status.
- \`errors\` names the fields of the request that are wrong, where the error is one of fields. \`path\` is the dotted path of
  the field; \`position\`, where there is one, is the index of the character in the field's text.

Exceptions, as clients of the reference servers expect: the 404s of assistants, threads, runs, crons and store items are plain
text with the sentence alone; A2A and MCP answer JSON-RPC errors; the event protocol answers
\`{"type": "error", "id", "error", "message"}\`. A code that begins with \`FST_\` comes from the HTTP library: a request that isn't
valid HTTP or has an unknown content type. A 500 with the code \`internal\` is a fault of Gantry's: the api's log has its cause
under the \`x-request-id\` of the answer.

How a run failed is not an error of the API: [debugging runs](debugging-runs.md) explains \`error\` and \`status\` of runs.

This page is generated from the source by \`npm run docs:errors\`. In messages, \`<name>\` stands for a value.
`;

/** @typedef {{ area: string, code: string, status: string, message: string }} Entry */

/**
 * The text of a message, with the names of what it quotes.
 * @param {ts.Expression | undefined} node
 */
function messageOf(node) {
  if (node && ts.isStringLiteralLike(node)) return node.text;
  if (!node || !ts.isTemplateExpression(node)) return '';
  const name = (/** @type {ts.Expression} */ each) =>
    ts.isIdentifier(each) ? each.text : (each.getText().match(/[A-Za-z_]+(?=[^A-Za-z_]*$)/)?.[0] ?? 'value');
  return node.head.text + node.templateSpans.map((span) => `<${name(span.expression)}>${span.literal.text}`).join('');
}

/**
 * The codes that an argument can have: its own, or those with which the function that has it as a parameter is called.
 * @param {ts.Expression | undefined} node
 * @param {ts.SourceFile} source
 * @returns {string[]}
 */
function codesOf(node, source) {
  if (!node) return [];
  if (ts.isStringLiteralLike(node)) return [node.text];
  if (!ts.isIdentifier(node)) return [];
  const owner = ts.findAncestor(node, ts.isFunctionDeclaration);
  const index = owner?.parameters.findIndex(({ name }) => name.getText() === node.text) ?? -1;
  if (index < 0) return [];
  /** @type {string[]} */
  const codes = [];
  visit(source, (each) => {
    if (ts.isCallExpression(each) && each.expression.getText() === owner?.name?.text)
      codes.push(...codesOf(each.arguments[index], source));
  });
  return codes;
}

/**
 * @param {ts.Node} node
 * @param {(node: ts.Node) => void} see
 */
function visit(node, see) {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

/** @returns {Entry[]} */
function findErrors() {
  /** @type {Entry[]} */
  const entries = [];
  for (const file of readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!file.endsWith('.ts') || file.endsWith('.spec.ts')) continue;
    const source = ts.createSourceFile(file, readFileSync(join(SOURCE, file), 'utf8'), ts.ScriptTarget.Latest, true);
    visit(source, (node) => {
      if (!ts.isNewExpression(node) || node.expression.getText() !== 'ApiError') return;
      const [status, code, message] = node.arguments ?? [];
      const area = file.split(sep)[0];
      for (const each of codesOf(code, source)) {
        const known = status && ts.isNumericLiteral(status) ? status.text : 'any';
        entries.push({ area, code: each, status: known, message: messageOf(message) });
      }
    });
  }
  return entries;
}

/** @param {Entry[]} entries */
function toPage(entries) {
  const escape = (/** @type {string} */ text) =>
    text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*');
  const areas = Map.groupBy(entries, ({ area }) => area);
  const sections = [...areas].map(([area, found]) => {
    const rows = Map.groupBy(found, ({ code, status }) => `\`${code}\` | ${status}`);
    const lines = [...rows]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, same]) => {
        const messages = [...new Set(same.map(({ message }) => message).filter(Boolean))];
        return `| ${key} | ${messages.map(escape).join('<br>') || 'says what is wrong'} |`;
      });
    return `\n## ${area}\n\n| code | status | message |\n| --- | --- | --- |\n${lines.join('\n')}\n`;
  });
  return INTRO + sections.join('');
}

await writePage('docs/errors.md', toPage(findErrors()), 'npm run docs:errors');
