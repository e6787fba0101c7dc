// A step of `npm run build`: makes one file of each program, with the packages that it uses, so that a start need not look
// up and read thousands of modules (src/config/compiled-code.ts runs them).
import './services/runtime.mjs';
import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './services/paths.mjs';

const DIST = join(ROOT, 'dist');
const MODULES = join(ROOT, 'node_modules');
const PROGRAMS = join(DIST, 'programs');
const ENTRIES = {
  api: join(DIST, 'src', 'api.js'),
  worker: join(DIST, 'worker', 'worker.js'),
  cli: join(DIST, 'src', 'cli', 'cli.js'),
  'graph-process': join(DIST, 'src', 'graphs', 'host', 'graph-process.js'),
  'auth-process': join(DIST, 'src', 'auth', 'custom', 'auth-process.js'),
  'app-process': join(DIST, 'src', 'custom-app', 'app-process.js'),
  'workflow-thread': join(MODULES, '@temporalio', 'worker', 'lib', 'workflow', 'workflow-worker-thread.js'),
};

/** Packages that are not bundled: those with native parts, those that look for files beside their own, and optional ones. */
const OUTSIDE = [
  '@duckdb/*',
  '@fastify/static',
  // One copy in a graph process: security tests take the process's login as code of a graph could.
  'pg',
  'typescript',
  'tsx',
  '@langchain/langgraph-api',
  // Optional companions of packages that Gantry does without.
  '@nestjs/microservices',
  '@nestjs/websockets',
  '@nestjs/platform-express',
  '@fastify/multipart',
  '@fastify/view',
  '@fastify/swagger-ui',
  'class-transformer',
  'class-validator',
  'pg-native',
];

/** @type {import('esbuild').Plugin} */
const ownFiles = {
  name: 'own-files',
  setup({ onLoad, onResolve }) {
    // One copy, which has the state of the program that it runs.
    onResolve({ filter: /\/compiled-code$/ }, () => ({ path: '../src/config/compiled-code.js', external: true }));
    onResolve({ filter: /^\.\.\/workflows$/ }, ({ kind }) =>
      kind === 'require-resolve' ? { path: '../workflows', external: true } : undefined,
    );
    // Each file keeps its own place: threads and migrations are looked for beside it.
    onLoad({ filter: /\.js$/ }, async ({ path }) => {
      if (relative(DIST, path).startsWith('..')) return undefined;
      const code = await readFile(path, 'utf8');
      if (!/\b__(dirname|filename)\b/.test(code)) return { contents: code };
      const place = `require('node:path').join(programsFolder, ${JSON.stringify(relative(PROGRAMS, path))})`;
      const own = `const __filename = ${place}, __dirname = require('node:path').dirname(__filename);`;
      return { contents: `"use strict";${own}${code}` };
    });
  },
};

/**
 * Temporal's packages, with the parts outside that are loaded by their path: the native one, the thread of the workflows, and
 * the bundler of workflows, which brings webpack and is needed only where `npm run build` has made no bundle.
 * @type {import('esbuild').Plugin}
 */
const temporal = {
  name: 'temporal',
  setup({ onLoad, onResolve }) {
    const inTemporal = /[\\/]node_modules[\\/]@temporalio[\\/]/;
    const inBridge = /[\\/]@temporalio[\\/]core-bridge[\\/]/;
    onResolve({ filter: /^\.\/common$/ }, ({ importer }) =>
      inBridge.test(importer) ? { path: '@temporalio/core-bridge/common', external: true } : undefined,
    );
    onResolve({ filter: /^\.\/workflow-worker-thread$/ }, () => ({ path: './workflow-thread.js', external: true }));
    onResolve({ filter: /^\.\.?\// }, ({ kind, path, resolveDir }) =>
      kind === 'require-resolve' && inTemporal.test(resolveDir)
        ? { path: relative(MODULES, join(resolveDir, path)).replaceAll('\\', '/'), external: true }
        : undefined,
    );
    // The copy of the package that Temporal's worker finds; it looks for a file beside its own.
    onResolve({ filter: /^source-map$/ }, ({ path, resolveDir }) =>
      inTemporal.test(resolveDir) ? { path, namespace: 'beside-worker' } : undefined,
    );
    onLoad({ filter: /.*/, namespace: 'beside-worker' }, ({ path }) => ({
      contents: `
        const { createRequire } = require('node:module');
        const worker = createRequire(programUrl).resolve('@temporalio/worker');
        module.exports = createRequire(worker)(${JSON.stringify(path)});`,
    }));
    onLoad({ filter: /@temporalio[\\/]worker[\\/]lib[\\/]workflow[\\/]bundler\.js$/ }, () => ({
      contents: `
        const { createRequire } = require('node:module');
        const outside = createRequire(programUrl);
        exports.defaultWorkflowInterceptorModules = [outside.resolve('@temporalio/worker/lib/workflow-log-interceptor')];
        for (const name of ['WorkflowCodeBundler', 'bundleWorkflowCode']) {
          const get = () => outside('@temporalio/worker/lib/workflow/bundler')[name];
          Object.defineProperty(exports, name, { enumerable: true, get });
        }`,
    }));
  },
};

/** @type {import('esbuild').Plugin} */
const typeorm = {
  name: 'typeorm',
  setup({ onLoad }) {
    // It would load a second copy, from outside of the bundle.
    onLoad({ filter: /@nestjs[\\/]typeorm[\\/]dist[\\/]common[\\/]typeorm-compat\.js$/ }, async ({ path }) => {
      const code = await readFile(path, 'utf8');
      const ownRequire = /^(import \{ createRequire \}|const require = createRequire).*$/gm;
      if (code.match(ownRequire)?.length !== 2)
        throw new Error(`${path} has changed: it may load TypeORM a second time.`);
      return { contents: code.replace(ownRequire, '') };
    });
  },
};

/**
 * Leaves out parts of packages that a program would load and never use: TypeORM's drivers for other databases, and the messages of
 * zod in other languages. They are an eighth of the code.
 * @type {import('esbuild').Plugin}
 */
const withoutUnusedParts = {
  name: 'without-unused-parts',
  setup({ onLoad, onResolve }) {
    const leaveOut = (/** @type {RegExp} */ filter, /** @type {RegExp} */ importers, /** @type {RegExp} */ needed) =>
      onResolve({ filter }, ({ path, importer }) =>
        importers.test(importer) && !needed.test(path) ? { path, namespace: 'unused' } : undefined,
      );
    leaveOut(/Driver$/, /typeorm[/\\]driver[/\\]DriverFactory\.js$/, /^\.\/postgres\//);
    leaveOut(/^\.\/.+\.c?js$/, /zod[/\\]v4[/\\]locales[/\\]index\.c?js$/, /^\.\/en\./);
    onLoad({ filter: /./, namespace: 'unused' }, () => ({ contents: 'module.exports = {};' }));
  },
};

/**
 * Packages that most processes never use, in files of their own: the text of a program stays in memory for as long as it runs.
 * @type {Record<string, string[]>}
 */
const APART = {
  aws: ['@aws-sdk/client-s3', '@aws-sdk/credential-providers'],
  google: ['google-auth-library'],
  undici: ['undici'],
};

/** @param {string} folder @param {string} name */
const resolvedFrom = (folder, name) => createRequire(join(folder, 'file.js')).resolve(name);

/**
 * Loads such a package from its file when a program first uses it.
 * @type {import('esbuild').Plugin}
 */
const fromTheirFiles = {
  name: 'from-their-files',
  setup({ onLoad, onResolve }) {
    for (const [file, packages] of Object.entries(APART)) {
      onResolve({ filter: new RegExp(`^(${packages.join('|')})$`) }, ({ path, resolveDir }) =>
        // A package may depend on a version of its own.
        resolvedFrom(resolveDir, path) === resolvedFrom(ROOT, path)
          ? { path, namespace: 'apart', pluginData: file }
          : undefined,
      );
    }
    onLoad({ filter: /./, namespace: 'apart' }, ({ path, pluginData: file }) => ({
      contents: `
        const { join } = require('node:path');
        module.exports = require(join(programsFolder, ${JSON.stringify(`${file}.js`)}))[${JSON.stringify(path)}];`,
    }));
  },
};

/**
 * Makes the entries of these files.
 * @type {import('esbuild').Plugin}
 */
const packagesApart = {
  name: 'packages-apart',
  setup({ onLoad, onResolve }) {
    onResolve({ filter: /^apart:/ }, ({ path }) => ({ path: path.slice('apart:'.length), namespace: 'entry' }));
    onLoad({ filter: /./, namespace: 'entry' }, ({ path: file }) => ({
      contents: APART[file]
        .map((name) => `exports[${JSON.stringify(name)}] = require(${JSON.stringify(name)});`)
        .join(''),
      resolveDir: ROOT,
    }));
  },
};

/**
 * Escapes what isn't ASCII: the bundler does it in strings, but leaves regular expressions and comments as they are. V8 takes
 * a file that is ASCII throughout as it is (src/config/compiled-code.ts), and twice the memory for any other.
 * @param {string} code
 */
function toAscii(code) {
  const escaped = code.search(/\\[^\0-\x7f]/);
  if (escaped !== -1) {
    const place = code.slice(Math.max(0, escaped - 40), escaped + 40);
    throw new Error(`A backslash before a character that is not ASCII can't be bundled: ${place}`);
  }
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The bundler's helper that keeps names, as it writes it. */
const NAMING = 'var __name=(target,value)=>__defProp(target,"name",{value,configurable:true});';

/**
 * Makes the bundler's helper that keeps names cheap. It is called for every function inside of another one each time that it is made,
 * and defining a property takes longer than making the function. Functions that have their name keep it without that, and arrow
 * functions, which nothing asks for their name, stay without one.
 * @param {string} code
 */
function withCheapNames(code) {
  if (!code.includes(NAMING)) throw new Error('The helper of the bundler that keeps names has changed.');
  const define = '__defProp(target,"name",{value,configurable:true})';
  const cheap = `var __name=(target,value)=>Object.hasOwn(target,"prototype")&&target.name!==value?${define}:target;`;
  return code.replace(NAMING, cheap);
}

/**
 * @param {Record<string, string>} entryPoints
 * @param {import('esbuild').Plugin[]} plugins
 */
async function bundle(entryPoints, plugins) {
  const { outputFiles } = await build({
    entryPoints,
    plugins,
    outdir: PROGRAMS,
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node24',
    keepNames: true, // logs, metrics and injection read the names of classes
    // V8 keeps the text, and where each of its lines ends: a third less to keep and to read. Names stay as they are in stack traces.
    minifyWhitespace: true,
    lineLimit: 200,
    external: OUTSIDE,
    define: { 'import.meta.url': 'programUrl' },
    banner: {
      js: 'const programsFolder = __dirname, programUrl = require("node:url").pathToFileURL(__filename).href;',
    },
    logLevel: 'warning',
  });
  return outputFiles;
}

const outputFiles = [
  ...(await bundle(ENTRIES, [ownFiles, fromTheirFiles, temporal, typeorm, withoutUnusedParts])),
  ...(await bundle(Object.fromEntries(Object.keys(APART).map((file) => [file, `apart:${file}`])), [packagesApart])),
];
await mkdir(PROGRAMS, { recursive: true });
for (const { path, text } of outputFiles) {
  const code = withCheapNames(toAscii(text));
  const checksum = createHash('sha256').update(code).digest('hex');
  await writeFile(path, `// sha256 ${checksum}\n${code}`);
}
