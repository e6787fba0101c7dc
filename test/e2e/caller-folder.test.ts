import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
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

/** The errors of a start that ends at the settings at the latest, called as a user does in a folder. */
function startIn(folder: string, clone: string, settings: Record<string, string> = {}): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, GANTRY_AUTH: 'perhaps', ...settings };
  return new Promise((resolve) => {
    execFile('npm', ['--prefix', clone, 'start'], { cwd: folder, env }, (_error, _stdout, stderr) => resolve(stderr));
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

  it('does not start a second, empty Gantry for a caller elsewhere when the clone has one', async () => {
    const parent = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-clone-')));
    const [clone, project] = [join(parent, 'clone'), join(parent, 'project')];
    const [first, second] = [join(clone, '.gantry'), join(project, '.gantry')];
    try {
      for (const folder of [first, project]) mkdirSync(folder, { recursive: true });
      cpSync(join(ROOT, 'scripts'), join(clone, 'scripts'), { recursive: true });
      for (const file of ['package.json', '.npmrc']) cpSync(join(ROOT, file), join(clone, file));
      const wrongSetting = 'GANTRY_AUTH=perhaps is neither on nor off.';
      expect(await startIn(project, clone)).toContain(wrongSetting);

      writeFileSync(join(first, 'secrets.json'), '{}');
      const refusal = await startIn(project, clone);
      expect(refusal).toContain(`This clone has a Gantry already, in ${first}.`);
      expect(refusal).toContain(`GANTRY_HOME=${first} for the first, or GANTRY_HOME=${second} for a new one.`);
      expect(refusal).not.toContain(wrongSetting);
      expect(existsSync(second)).toBe(false);

      expect(await startIn(clone, clone)).toContain(wrongSetting);
      for (const home of [first, second]) {
        expect(await startIn(project, clone, { GANTRY_HOME: home })).toContain(wrongSetting);
      }
      writeFileSync(join(project, 'langgraph.json'), '{}');
      expect(await startIn(project, clone)).toContain(wrongSetting);
    } finally {
      rmSync(parent, { recursive: true });
    }
  });
});
