import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Time after which the program ends although it still has the memory. */
const GIVEN_UP_MS = 20_000;

/** Fills memory after the first collection, drops it, and prints when it is returned: MiB of the process with it and then. */
const PROGRAM = `
  const { returnUnusedMemory } = require(process.argv[1]);
  const megabytes = () => Math.round(process.memoryUsage.rss() / 2 ** 20);
  returnUnusedMemory(100, Number(process.argv[2]));
  setTimeout(() => {
    let load = Array.from({ length: 400_000 }, (_, index) => ({ index, text: 'load ' + index, more: [index, index] }));
    const loaded = megabytes();
    load = undefined;
    const until = performance.now() + Number(process.argv[3]);
    setInterval(() => {
      const rested = megabytes();
      if (rested < loaded - 40 || performance.now() > until) process.exit(console.log(JSON.stringify({ loaded, rested })));
    }, 200);
  }, 300);`;

async function rest(lookMs: number, forMs: number): Promise<{ loaded: number; rested: number }> {
  const module = join(__dirname, 'unused-memory.ts');
  const options = ['--experimental-strip-types', '--no-warnings', '-e', PROGRAM];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, module, String(lookMs), String(forMs)]);
  return JSON.parse(stdout) as { loaded: number; rested: number };
}

describe('unused memory', () => {
  it('of a load is returned to the system when the process is idle', async () => {
    const { loaded, rested } = await rest(500, GIVEN_UP_MS);
    expect(rested).toBeLessThan(loaded - 40);
  });

  it('would be kept otherwise', async () => {
    const { loaded, rested } = await rest(3_600_000, 2_000);
    expect(rested).toBeGreaterThan(loaded - 40);
  });
});
