import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

export interface Said {
  code: number;
  out: string;
  err: string;
}

/** `npm run gantry -- …args` */
export async function gantryCli(args: string[], env: Record<string, string>): Promise<Said> {
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'gantry.mjs'), ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
}
