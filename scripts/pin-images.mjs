// node scripts/pin-images.mjs > docker-compose.pinned.yml: every image of docker-compose.yml by its digest.
//
//   docker compose -f docker-compose.yml -f docker-compose.pinned.yml up -d --wait
//
// A tag can be moved, a digest can't. The digests are asked of the registries, by `docker buildx imagetools`; look at what
// changed before you keep the file. The image of Node that Gantry's own is built on is pinned in .env: it is printed there
// as a comment.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const NODE_IMAGE = /^ARG NODE_IMAGE=(\S+)$/m;

const root = join(import.meta.dirname, '..');
const read = (/** @type {string} */ path) => readFileSync(join(root, path), 'utf8');

/** @param {string} image */
function pinned(image) {
  const inspect = ['buildx', 'imagetools', 'inspect', image, '--format', '{{.Manifest.Digest}}'];
  const digest = execFileSync('docker', inspect, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest))
    throw new Error(`${image}: docker answered "${digest}", which is no digest`);
  return `${image}@${digest}`;
}

/**
 * Services whose image comes from a registry. In the file, the image is on a line below the service's name, indented by two
 * more spaces.
 */
const services = [...read('docker-compose.yml').matchAll(/^ {2}([\w-]+):\n(?: {4}.*\n| *\n)*? {4}image: (\S+)$/gm)];
const lines = services.map(([, name, image]) => `  ${name}:\n    image: ${pinned(image)}\n`);
const [, node] = NODE_IMAGE.exec(read('Dockerfile')) ?? [];
if (!node) throw new Error('Dockerfile names no NODE_IMAGE');

process.stdout.write(`# For .env: GANTRY_NODE_IMAGE=${pinned(node)}\nservices:\n${lines.join('')}`);
