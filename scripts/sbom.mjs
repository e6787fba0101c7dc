// npm run --silent sbom > sbom.cdx.json: what Gantry consists of in production, as CycloneDX 1.5.
//
// From package-lock.json, and not by `npm sbom --omit=dev`: that one (npm 11) leaves out packages that production needs,
// @langchain/core for one. The same lock file gives the same bill, so that two releases can be compared.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ version?: string, license?: string, integrity?: string, dev?: boolean, optional?: boolean, link?: boolean,
 *   dependencies?: Record<string, string>, peerDependencies?: Record<string, string> }} Locked
 */

const ROOT = join(import.meta.dirname, '..');
const FOLDER = 'node_modules/';
/** The package of an import or of a file in a style sheet, with its scope; relative paths are none. */
const IMPORTED = /(?:from|import|url)\s*\(?\s*['"]((?:@[\w.-]+\/)?[a-z][\w.-]*)/g;
/** @type {Record<string, string>} */
const ALGORITHMS = { sha512: 'SHA-512', sha384: 'SHA-384', sha256: 'SHA-256', sha1: 'SHA-1' };

/** @type {{ name: string, version: string, packages: Record<string, Locked> }} */
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));

/**
 * @param {string} name
 * @param {string} [version]
 */
const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;

/** @param {string} [integrity] as the lock file has it: `sha512-<base64>` */
function hashesOf(integrity) {
  const [algorithm, content] = (integrity ?? '').split('-');
  if (!content) return {};
  return { hashes: [{ alg: ALGORITHMS[algorithm], content: Buffer.from(content, 'base64').toString('hex') }] };
}

/**
 * The installed package that a name means to a package: its own one, or the nearest above it.
 * @param {string} from path of the package
 * @param {string} name
 * @returns {string | undefined} its path
 */
function installed(from, name) {
  const path = `${from && `${from}/`}${FOLDER}${name}`;
  if (lock.packages[path]) return path;
  return from === '' ? undefined : installed(from.slice(0, Math.max(0, from.lastIndexOf(`/${FOLDER}`))), name);
}

/** Paths of the packages whose code is in the console's bundle: devDependencies of ours, of which its sources import some. */
function bundled() {
  const sources = readdirSync(join(ROOT, 'console', 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.(tsx?|css)$/.test(file))
    .map((file) => readFileSync(join(ROOT, 'console', 'src', file), 'utf8'));
  /** @type {Set<string>} */
  const found = new Set();
  for (const [, name] of sources.join('\n').matchAll(IMPORTED)) found.add(installed('', name) ?? '');
  // Packages that are added during the iteration are visited as well.
  for (const path of found) {
    const { dependencies, peerDependencies } = path === '' ? {} : lock.packages[path];
    for (const name of Object.keys({ ...dependencies, ...peerDependencies })) found.add(installed(path, name) ?? '');
  }
  return found;
}

const ofConsole = bundled();
/** @type {Map<string, object>} */
const components = new Map();
for (const [path, { version, license, integrity, dev, optional, link }] of Object.entries(lock.packages)) {
  if (path === '' || link || (dev && !ofConsole.has(path))) continue;
  const name = path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
  const purl = purlOf(name, version);
  components.set(purl, {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    scope: optional ? 'optional' : 'required',
    ...(license && { licenses: [{ expression: license }] }),
    ...hashesOf(integrity),
  });
}

const purl = purlOf(lock.name, lock.version);
const application = { type: 'application', 'bom-ref': purl, name: lock.name, version: lock.version, purl };
const bom = {
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: { component: application },
  components: [...components.keys()].sort().map((key) => components.get(key)),
};
process.stdout.write(`${JSON.stringify(bom, null, 2)}\n`);
