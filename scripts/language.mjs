// npm run lint: fails on words that the glossary of CONTRIBUTING.md replaces, in comments and names of the source and in the docs.
import './services/runtime.mjs';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['src', 'workflows', 'activities', 'worker'];
/** CONTRIBUTING.md isn't among them: it has the glossary. */
const PAGES = ['docs', 'README.md', 'SECURITY.md'];

/** Words, each with those that say the same. @type {[word: RegExp, use: string][]} */
const REPLACED = [
  [/\b(?:un)?told\b|\btell(?:s|ing|ers?)?\b/i, 'emit (an event), report or notify (a process), distinguish'],
  [/\bwish(?:e[sd])?\b/i, 'request'],
  [/\bbehind\b(?! (?:a|the) (?:\w+ )?(?:proxy|balancer)\b)(?!, behind a Unix socket)/i, 'after, following'],
  [/\banew\b/i, 'again'],
  [/\b(?:whoever|nobody|somebody|nobodys)\b/i, 'caller, client, operator, tenant, user, or the process that is meant'],
  [/\bhead ?starts?\b/i, 'eager start'],
  [/\b(?:go|goes|going|went) on at\b/i, 'resume from'],
  [/\bat work\b|\bon (?:its|their) way\b/i, 'in flight, running'],
  [/\b(?:give|gives|gave|given) (?:it |them )?away\b/i, 'hand over, hand back'],
];

/** @type {string[]} */
const found = [];

/**
 * @param {string} text
 * @param {string} place file and line
 */
function check(text, place) {
  for (const [word, use] of REPLACED) {
    const match = word.exec(text);
    if (match) found.push(`${place}: "${match[0]}": use ${use}`);
  }
}

/** @param {string} file */
function checkSource(file) {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const place = (/** @type {number} */ at) => `${file}:${source.getLineAndCharacterOfPosition(at).line + 1}`;
  /** @type {Set<number>} */
  const comments = new Set();
  const visit = (/** @type {ts.Node} */ node) => {
    const ranges = [
      ...(ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []),
      ...(ts.getTrailingCommentRanges(text, node.getEnd()) ?? []),
    ];
    for (const { pos, end } of ranges) {
      if (comments.has(pos)) continue;
      comments.add(pos);
      check(text.slice(pos, end).replace(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' '), place(pos));
    }
    if (ts.isIdentifier(node)) check(wordsOf(node.text), place(node.getStart(source)));
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
}

/** The words of a name: `untoldSteps` and `UNTOLD_STEPS` are `untold steps`. @param {string} name */
function wordsOf(name) {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/_/g, ' ');
}

/** Code in a page is no prose. @param {string} file */
function checkPage(file) {
  const blank = (/** @type {string} */ code) => code.replace(/[^\n]/g, ' ');
  const prose = readFileSync(join(ROOT, file), 'utf8')
    .replace(/^```.*?^```$/gms, blank)
    .replace(/`[^`\n]*`/g, blank);
  prose.split('\n').forEach((line, index) => check(line, `${file}:${index + 1}`));
}

/**
 * @param {string} path a file or folder
 * @param {string} extension
 * @returns {string[]}
 */
function filesOf(path, extension) {
  if (path.endsWith(extension)) return [path];
  return readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

for (const folder of SOURCES) for (const file of filesOf(folder, '.ts')) checkSource(file);
for (const page of PAGES) for (const file of filesOf(page, '.md')) checkPage(file);
if (found.length > 0) {
  console.error([...new Set(found)].sort().join('\n'));
  process.exitCode = 1;
}
