// npm run demo [-- part…] [--keep]: what Gantry promises, shown against the Gantry that is running on this machine.
//
// Each part prints what it asks and what comes back, and ends in PASS or FAIL with numbers. Nothing leaves the machine:
// the tools and webhook receivers are servers of this process, the graphs need no model key.
import './services/runtime.mjs';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { connectGantry } from './demo/gantry.mjs';
import { Report } from './demo/report.mjs';
import { callerFolder } from './services/caller-folder.mjs';

/** Parts in the order in which they run; each is loaded when it is needed. */
const PARTS = {
  stream: () => import('./demo/stream.mjs'),
  python: () => import('./demo/python.mjs'),
  crash: () => import('./demo/crash.mjs'),
  webhook: () => import('./demo/webhook.mjs'),
  export: () => import('./demo/export.mjs'),
};

const HELP = `npm run demo [-- options] [part…]

Shows what a running Gantry does. Parts (all of them when none is named):
  stream    an agent streams its tokens
  python    a graph in Python runs beside those in TypeScript
  crash     a run survives a killed worker (takes about 15 s: a dead worker is noticed after 10 s)
  webhook   a receiver that fails three times gets its webhook in the end (about 15 s: the retries wait)
  export    20,000 traced runs become Parquet files, with the worker killed in the middle (about 20 s)

Options
  --keep    leave the threads, the traced project and the exported files for you to look at
  --help    this text

Start Gantry with "npm start" in another terminal first. GANTRY_HOME is the home of that Gantry [.gantry].
`;

/** @param {string[]} args */
function readArguments(args) {
  const options = /** @type {const} */ ({ help: { type: 'boolean', short: 'h' }, keep: { type: 'boolean' } });
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const unknown = positionals.filter((name) => !Object.hasOwn(PARTS, name));
  if (unknown.length > 0) {
    throw new Error(`There is no part ${unknown.join(', ')}. There are ${Object.keys(PARTS).join(', ')}.`);
  }
  return { ...values, names: positionals.length > 0 ? positionals : Object.keys(PARTS) };
}

async function main() {
  const { help, keep, names } = readArguments(process.argv.slice(2));
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (!existsSync(new URL('../node_modules', import.meta.url))) {
    throw new Error('The dependencies are not installed. Run "npm start" in another terminal first.');
  }
  process.chdir(callerFolder());
  const gantry = await connectGantry();
  const report = new Report();
  report.line(`Gantry at ${gantry.endpoints.api}`);
  for (const name of names) {
    const part = await PARTS[name]();
    await report.part(name, part.title, () => part.run({ gantry, report, keep: keep ?? false }));
  }
  return report.summary() ? 0 : 1;
}

try {
  process.exit(await main());
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exit(2);
}
