// npm run lint: fails on words that the glossary of CONTRIBUTING.md replaces, and on doc comments that begin like a question or a fragment, in
// comments and names of the source, the tests, the scripts and the examples, in messages of the source and the scripts, in titles
// of tests, in comments of what surrounds them, and in the docs.
import './services/runtime.mjs';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

const ROOT = join(import.meta.dirname, '..');
const SOURCES = ['console', 'src', 'workflows', 'activities', 'worker', 'test', 'scripts', 'examples'];
const LANGUAGES = ['.ts', '.tsx', '.mjs', '.cjs'];
/** Files whose comments begin with `#`. */
const HASHED = ['Dockerfile', 'docker-compose.yml', 'python', 'test'];
/** CONTRIBUTING.md isn't among them: it has the glossary. */
const PAGES = ['console', 'docs', 'README.md', 'SECURITY.md'];

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
  [/\b(?:any|every)body(?:'s)?\b/i, 'any caller, all users, or the people that are meant'],
  [/\b(?:go|goes|going|gone|went) on\b/, 'continue, resume'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, repair'],
  [/\bin the name of\b/i, 'on behalf of'],
  [/\bas ever\b/i, 'as usual, as before'],
  [/\bput(?:s|ting)? down\b/i, 'record'],
];

/**
 * Doc comments that begin like a question, or like the rest of a sentence that the code begins. Those of migrations stay as
 * they were released, and those of specs and test files aren't checked.
 */
const FRAGMENT =
  /^\/\*\*[\s*]*(What|Whose|Who|Of|By|As|With|Without|Such|Below|Beside|From|For|To|At|On|After|Than|Because)\b/;
const DOCUMENTED =
  /^(?:console\/src|src|workflows|activities|worker|scripts|test\/support)\/(?!database\/migrations\/).*(?<!\.spec)\.(?:tsx?|mjs|cjs)$/;

/** Files whose strings with blanks are messages to people. The strings of tests are data, but for titles. */
const SPEAKING =
  /^(?:console\/src|src|workflows|activities|worker|scripts)\/(?!database\/migrations\/)(?!.*\.(?:spec|test)\.)/;
/** Functions of tests whose first argument is a title, also in the rows of `each`, or what a failure was waiting for. */
const TITLED = ['describe', 'it', 'test', 'waitFor'];

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
      const [, fragment] = (DOCUMENTED.test(file) && FRAGMENT.exec(text.slice(pos, end))) || [];
      if (fragment)
        found.push(`${place(pos)}: "${fragment}": begin with a noun or a verb ("Fields that …", "Reads …")`);
      const comment = text.slice(pos, end).replace(/`[^`]*`/g, '');
      check(comment.replace(/\s*\n\s*(?:\*|\/\/)?\s*/g, ' '), place(pos));
    }
    if (ts.isIdentifier(node)) check(wordsOf(node.text), place(node.getStart(source)));
    if (isText(node) && /\S \S/.test(node.text) && (SPEAKING.test(file) || isTitle(node)))
      check(node.text, place(node.getStart(source)));
    for (const child of node.getChildren(source)) visit(child);
  };
  visit(source);
}

/**
 * @param {ts.Node} node
 * @returns {node is ts.StringLiteralLike | ts.TemplateLiteralLikeNode | ts.JsxText}
 */
function isText(node) {
  return (
    ts.isStringLiteralLike(node) ||
    ts.isTemplateHead(node) ||
    ts.isTemplateMiddleOrTemplateTail(node) ||
    ts.isJsxText(node)
  );
}

/** Whether a text is the title of a test, or that of a row of `each`, its first column. @param {ts.Node} text */
function isTitle(text) {
  /** @type {ts.Node} */
  let node = text;
  while (ts.isTemplateSpan(node.parent) || ts.isTemplateExpression(node.parent)) node = node.parent;
  while (ts.isArrayLiteralExpression(node.parent) && node.parent.elements[0] === node) node = node.parent;
  if (ts.isArrayLiteralExpression(node.parent)) node = node.parent;
  const call = node.parent;
  if (!ts.isCallExpression(call) || call.arguments[0] !== node) return false;
  /** @type {ts.Expression} */
  let called = call.expression;
  while (ts.isCallExpression(called) || ts.isPropertyAccessExpression(called)) called = called.expression;
  return ts.isIdentifier(called) && TITLED.includes(called.text);
}

/** Comments from `#` on, and docstrings of Python. @param {string} file */
function checkHashed(file) {
  const lines = readFileSync(join(ROOT, file), 'utf8').split('\n');
  let inDocstring = false;
  lines.forEach((line, index) => {
    const quotes = line.split('"""').length - 1;
    const comment = inDocstring || quotes > 0 ? line : (/(?:^|\s)#\s(.*)$/.exec(line)?.[1] ?? '');
    check(comment, `${file}:${index + 1}`);
    if (quotes % 2 === 1) inDocstring = !inDocstring;
  });
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
  if (!statSync(join(ROOT, path)).isDirectory()) return [];
  return readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(extension))
    .filter((entry) => !/\/(?:node_modules|dist|\.[^/]+)(?:\/|$)/.test(entry.parentPath.slice(ROOT.length)))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

for (const folder of SOURCES) {
  for (const language of LANGUAGES) for (const file of filesOf(folder, language)) checkSource(file);
}
for (const path of HASHED) {
  const files = path.includes('ocker') ? [path] : filesOf(path, '.py');
  for (const file of files) checkHashed(file);
}
for (const page of PAGES) for (const file of filesOf(page, '.md')) checkPage(file);
if (found.length > 0) {
  console.error([...new Set(found)].sort().join('\n'));
  process.exitCode = 1;
}
