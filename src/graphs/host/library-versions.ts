import { readFileSync } from 'node:fs';
import { AGENT_LIBRARIES, resolveFrom } from './project-libraries';

const LANGGRAPH = '@langchain/langgraph';

interface Range {
  library: string;
  from: string;
  before: string;
}

/** The supported versions of a project's libraries. Each `from` is tested, and so is the newest version. */
const SUPPORTED: Range[] = [
  { library: LANGGRAPH, from: '0.2.74', before: '2.0.0' },
  { library: '@langchain/core', from: '0.3.80', before: '2.0.0' },
];

/** The first version of LangGraph that streams tokens as content blocks. */
const CONTENT_BLOCKS_FROM = '1.3.0';

/** A version of LangGraph with the stream modes `tasks` and `checkpoints`; 0.2 has neither. */
const TASK_MODES_FROM = '0.3.6';

/** LangGraph's version by file of a graph: every run asks, and the packages of a process don't change. */
const versions = new Map<string, string | undefined>();

/**
 * Refuses a project whose libraries have unsupported versions. A project without them uses Gantry's own.
 * @param file of a graph
 * @throws {Error} naming the library, its version and the supported ones
 */
export function checkLibraryVersions(file: string): void {
  for (const { library, from, before } of SUPPORTED) {
    const version = versionFrom(file, library);
    if (version === undefined || (compare(version, from) >= 0 && compare(version, before) < 0)) continue;
    throw new Error(`${file}: its project has ${library} ${version}, and Gantry supports >=${from} <${before}`);
  }
}

/** Whether the project's copy of LangGraph has the stream modes `tasks` and `checkpoints`. */
export function hasTaskModes(file: string): boolean {
  return isLangGraphFrom(file, TASK_MODES_FROM);
}

/** Whether the project's copy of LangGraph streams tokens as the content blocks of the event protocol. */
export function hasContentBlocks(file: string): boolean {
  return isLangGraphFrom(file, CONTENT_BLOCKS_FROM);
}

function isLangGraphFrom(file: string, first: string): boolean {
  if (!versions.has(file)) versions.set(file, versionFrom(file, LANGGRAPH));
  const version = versions.get(file);
  return version === undefined || compare(version, first) >= 0;
}

function versionFrom(file: string, library: string): string | undefined {
  const agents = AGENT_LIBRARIES.map((each) => resolveFrom(file, each));
  for (const from of [file, ...agents]) {
    const found = from && resolveFrom(from, `${library}/package.json`);
    if (found) return (JSON.parse(readFileSync(found, 'utf8')) as { version: string }).version;
  }
  return undefined;
}

/** Compares the release numbers; a pre-release counts as its release. */
function compare(left: string, right: string): number {
  const [a, b] = [left, right].map((version) => version.split(/[-+]/, 1)[0].split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    if (a[index] !== b[index]) return a[index] - b[index];
  }
  return 0;
}
