import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { readJson } from './json-file.mjs';
import { fillOnce } from './fill-once.mjs';
import { ROOT, cacheDir } from './paths.mjs';
import { runCommand } from './process.mjs';
import { say } from './progress.mjs';

/** Packages that Gantry's own part of a graph process needs. */
const OWN_REQUIREMENTS = join(ROOT, 'python', 'requirements.txt');
/** The oldest Python 3 that LangGraph runs on. */
const OLDEST_MINOR = 10;
const INSTALL_MS = 30 * 60_000;
/**
 * Matches a Python file with its export, or a module by its dotted name. The name of a provider's model has no dot before
 * the colon.
 */
const IN_PYTHON = /\.py:[^:]+$|^(?!.*\.[cm]?[jt]sx?:)[A-Za-z_]\w*\.[\w.]+:[^:]+$/;
/** Files that list a project's libraries, in order of preference. */
const PROJECT_FILES = ['pyproject.toml', 'setup.py', 'requirements.txt'];

/** No environment for Python graphs could be made. */
class NoPythonError extends Error {}

/**
 * The interpreter of `findGraphPython`. Where none can be had, the graphs in JavaScript are served without it, and what is not
 * served is said; a project that can't start without Python fails.
 * @param {string} configPath
 * @param {{ signal?: AbortSignal }} options
 * @returns {Promise<string | undefined>}
 */
export async function findPythonOrDoWithout(configPath, options) {
  try {
    return await findGraphPython(configPath, options);
  } catch (error) {
    const { graphs, others } = pythonParts(readJson(configPath));
    const isLeftOut = error instanceof NoPythonError && others.length === 0 && graphs.some(({ inPython }) => !inPython);
    if (!isLeftOut) throw error;
    const names = graphs.flatMap(({ id, inPython }) => (inPython ? [`"${id}"`] : [])).join(', ');
    say('python', `not served: ${names}. ${error.message} Start again then; the other graphs are served.`);
    return undefined;
  }
}

/**
 * Parts of a project that may be written in Python.
 * @param {any} config contents of langgraph.json
 */
function pythonParts(config) {
  const { auth, http, store, encryption } = config ?? {};
  /** @param {unknown} path */
  const inPython = (path) => IN_PYTHON.test(String(path));
  const graphs = Object.entries(config?.graphs ?? {}).map(([id, graph]) => ({
    id,
    inPython: inPython(typeof graph === 'string' ? graph : graph?.path),
  }));
  return { graphs, others: [auth?.path, http?.app, store?.index?.embed, encryption?.path].filter(inPython) };
}

/**
 * An interpreter in whose environment the Python graphs of a langgraph.json can run: the environment holds what its
 * `dependencies` name, and is made again when one of the files changes that they lead to.
 * @param {string} configPath
 * @param {{ signal?: AbortSignal, folder?: string }} [options] folder: of the environments, instead of the cache
 * @returns {Promise<string | undefined>} path of its python; undefined where nothing of it is written in Python
 */
export async function findGraphPython(configPath, { signal, folder = cacheDir() } = {}) {
  const config = readJson(configPath);
  const { graphs, others } = pythonParts(config);
  if (others.length === 0 && !graphs.some(({ inPython }) => inPython)) return undefined;
  const requirements = requirementsOf(config.dependencies ?? [], dirname(resolve(configPath)));
  const version = config.python_version;
  const uv = await hasProgram('uv', signal);
  const interpreter = version && !uv ? `python${version}` : 'python3';
  const found = uv && version ? `uv ${version}` : await versionOf(interpreter, version, signal);
  const hash = createHash('sha256').update(found).update(readFileSync(OWN_REQUIREMENTS));
  for (const { args, files } of requirements) {
    hash.update(JSON.stringify(args));
    for (const file of files) hash.update(readFileSync(file));
  }
  const home = join(folder, `graph-python-${hash.digest('hex').slice(0, 12)}`);
  const python = join(home, 'bin', 'python');
  const what = `installing what the Python graphs need, with ${uv ? 'uv' : 'pip'}`;
  try {
    await fillOnce(home, { part: 'python', what, signal }, async () => {
      await makeEnvironment({ uv, version, interpreter, home, signal });
      const args = ['-r', OWN_REQUIREMENTS, ...requirements.flatMap((each) => each.args)];
      const installer = uv
        ? ['uv', 'pip', 'install', '--quiet', '--python', python]
        : [python, '-m', 'pip', 'install', '--disable-pip-version-check', '--quiet'];
      await runCommand(installer[0], [...installer.slice(1), ...args], { signal, timeoutMs: INSTALL_MS });
    });
    return python;
  } catch (error) {
    signal?.throwIfAborted();
    throw new NoPythonError(
      `The environment of the Python graphs could not be made from "dependencies" of ${configPath}. ` +
        `GANTRY_PYTHON names an interpreter of your own instead.\n${error.message}`,
      { cause: error },
    );
  }
}

/** @param {{ uv: boolean, version?: string, interpreter: string, home: string, signal?: AbortSignal }} options */
async function makeEnvironment({ uv, version, interpreter, home, signal }) {
  const options = { signal, timeoutMs: INSTALL_MS };
  if (uv) await runCommand('uv', ['venv', '--quiet', ...(version ? ['--python', version] : []), home], options);
  else await runCommand(interpreter, ['-m', 'venv', home], options);
}

/**
 * The installer's argument for each dependency, and the files that determine it.
 * @param {unknown} dependencies @param {string} folder of langgraph.json
 * @returns {{ args: string[], files: string[] }[]}
 */
function requirementsOf(dependencies, folder) {
  if (!Array.isArray(dependencies)) throw new Error('langgraph.json: dependencies: must be a list');
  return dependencies.map((dependency) => {
    const name = String(dependency);
    if (!name.startsWith('.') && !name.startsWith('/')) return { args: [name], files: [] };
    const path = resolve(folder, name);
    if (!existsSync(path)) throw new Error(`langgraph.json: dependencies: there is no ${path}`);
    if (statSync(path).isFile()) return { args: ['-r', path], files: [path] };
    const file = PROJECT_FILES.map((each) => join(path, each)).find(existsSync);
    // A folder without any of these files contains only code, which is imported from the folder itself.
    if (!file) return { args: [], files: [] };
    return { args: file.endsWith('requirements.txt') ? ['-r', file] : ['-e', path], files: [file] };
  });
}

/** @param {string} program @param {AbortSignal} [signal] */
async function hasProgram(program, signal) {
  return runCommand(program, ['--version'], { signal }).then(
    () => true,
    () => false,
  );
}

/** @param {string} interpreter @param {string | undefined} wanted @param {AbortSignal} [signal] */
async function versionOf(interpreter, wanted, signal) {
  try {
    const printed = (await runCommand(interpreter, ['--version'], { signal })).join('');
    const [, major, minor] = /(\d+)\.(\d+)/.exec(printed) ?? [];
    if (Number(major) < 3 || Number(minor) < OLDEST_MINOR) throw new Error(`${interpreter} is ${printed}`);
    return printed;
  } catch (error) {
    signal?.throwIfAborted();
    throw new NoPythonError(
      `Graphs in Python need ${wanted ? `Python ${wanted}, as "python_version" of langgraph.json says,` : `Python 3.${OLDEST_MINOR} or newer`} ` +
        `in PATH as ${interpreter}, with its venv module (on Debian the package python3-venv), or uv.`,
      { cause: error },
    );
  }
}
