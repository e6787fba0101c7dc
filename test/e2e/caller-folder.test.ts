import { execFile } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

/** The output of the doctor, called as a user does in a folder. It fails where no Gantry runs. */
function doctorIn(folder: string, home: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, GANTRY_HOME: home };
  return new Promise((resolve) => {
    execFile('npm', ['--prefix', ROOT, 'run', 'doctor'], { cwd: folder, env }, (_error, stdout) => resolve(stdout));
  });
}

describe('a script of Gantry', () => {
  it("works in the folder of the project from which npm was called, wherever Gantry's clone is", async () => {
    const project = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-project-')));
    try {
      const file = join(project, 'langgraph.json');
      writeFileSync(join(project, 'agent.ts'), '');
      writeFileSync(file, JSON.stringify({ graphs: { mine: './agent.ts:graph' } }));
      const printed = await doctorIn(project, 'data');
      expect(printed).toContain(`none runs in ${join(project, 'data')}`);
      expect(printed).toContain(`${file}: mine`);
    } finally {
      rmSync(project, { recursive: true });
    }
  });

  it('works in the clone when npm was called in one of its folders', async () => {
    const printed = await doctorIn(join(ROOT, 'examples'), 'no-such-home');
    expect(printed).toContain(`none runs in ${join(ROOT, 'no-such-home')}`);
    expect(printed).toContain(join(ROOT, 'examples', 'langgraph.json'));
  });
});
