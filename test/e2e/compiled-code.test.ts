import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';

/** Size that distinguishes the corrupt file from a rewritten one: compiled code takes megabytes. */
const WHOLE_BYTES = 1_000_000;

describe('the compiled code of a program', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-compiled-'));
  let gantry: Gantry;

  beforeAll(async () => {
    gantry = await startGantry({ workers: 0, env: { NODE_COMPILE_CACHE: folder } });
  });

  afterAll(async () => {
    await gantry?.stop();
    rmSync(folder, { recursive: true });
  });

  /** Waits until a program has stored its compiled code; resolves to the file. */
  function keptCode(program = 'api', place = folder): Promise<string> {
    return waitFor(`the code of ${program}`, () =>
      (existsSync(place) ? readdirSync(place) : [])
        .filter((name) => name.startsWith(`gantry-${program}-`) && /-[0-9a-f]{64}-\d+$/.test(name))
        .map((name) => join(place, name))
        .find((path) => statSync(path).size > WHOLE_BYTES),
    );
  }

  it('is cached once the program is ready, and reused unchanged by the next start', async () => {
    const path = await keptCode();
    const { ino } = statSync(path);
    await gantry.killApi();
    await gantry.startApi();
    expect((await fetch(`${gantry.url}/ok`)).status).toBe(200);
    // A rewritten file would have another inode.
    expect(statSync(await keptCode()).ino).toBe(ino);
  });

  it('is replaced where it is damaged, and the program starts nevertheless', async () => {
    writeFileSync(await keptCode(), 'garbage');
    await gantry.killApi();
    await gantry.startApi();
    expect((await fetch(`${gantry.url}/ok`)).status).toBe(200);
    await keptCode();
  });

  it('is cached by graph processes separately from Gantry, which loads nothing that user code could have written', async () => {
    const [{ assistant_id }] = await gantry.client().assistants.search({ graphId: 'ten' });
    await gantry.client().assistants.getSchemas(assistant_id);
    await keptCode('graph-process', join(folder, 'user-code'));
    expect(readdirSync(folder).filter((name) => name.startsWith('gantry-graph-process'))).toEqual([]);
  });
});
