// node scripts/pin-images.mjs [--check] [folder]: the digests of the images in docker-compose.yml and the Dockerfile.
//
// A tag can be moved, a digest can't, so each image is named by both. This asks the registries, by `docker buildx imagetools`, which
// digest each tag has now, and writes it into the two files of the folder [this repository]: look at what changed before you commit it.
// With --check it writes nothing, names the images whose tags have moved, and exits with 1 if there are any.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const FILES = ['docker-compose.yml', 'Dockerfile'];
/** An image of a registry, where a service or a stage of the build names it. */
const IMAGE = /(?<=image: |ARG NODE_IMAGE=|GANTRY_NODE_IMAGE:-)([\w./-]+:[\w.-]+)(@sha256:[0-9a-f]{64})?(?=[\n}])/g;

const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true });
const folder = positionals[0] ?? join(import.meta.dirname, '..');

/** @type {Map<string, string>} */
const digests = new Map();

/** @param {string} tag of an image, with its name */
function digestOf(tag) {
  const known = digests.get(tag);
  if (known) return known;
  const inspect = ['buildx', 'imagetools', 'inspect', tag, '--format', '{{.Manifest.Digest}}'];
  const digest = execFileSync('docker', inspect, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`${tag}: docker answered "${digest}", which is no digest`);
  digests.set(tag, digest);
  return digest;
}

const moved = new Set();
const contents = FILES.map((name) => {
  const path = join(folder, name);
  const text = readFileSync(path, 'utf8').replace(IMAGE, (pinned, tag) => {
    const current = `${tag}@${digestOf(tag)}`;
    if (current !== pinned) moved.add(`${pinned} is now ${current}`);
    return current;
  });
  return { path, text };
});
for (const line of moved) console.log(line);
if (!values.check) for (const { path, text } of contents) writeFileSync(path, text);
else if (moved.size > 0) process.exitCode = 1;
