import { execFile } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { appFolder, installPackages } from './app';

const run = promisify(execFile);
const AGENTS = ['react', 'memory', 'research', 'retrieval'];

/**
 * A project of npm `create-agent-chat-app`, made by its own command with every agent that it has, and left as it is but for the
 * `.env` that its users write. Its packages are the newest ones that its ranges allow.
 * @returns the path of its langgraph.json
 */
export async function createChatApp(env: Record<string, string>): Promise<string> {
  const packages = await installPackages('chat-app');
  const parent = appFolder('chat-app');
  rmSync(parent, { recursive: true, force: true });
  mkdirSync(parent, { recursive: true });
  const command = join(packages, 'create-agent-chat-app', 'index.js');
  const options = ['--package-manager', 'npm', '--install-deps', 'false', '--framework', 'vite'];
  const args = ['--project-name', 'chat', ...options, '--include-agent', ...AGENTS];
  await run(process.execPath, [command, ...args], { cwd: parent });
  const folder = join(parent, 'chat');
  symlinkSync(packages, join(folder, 'node_modules'));
  const lines = Object.entries(env).map(([name, value]) => `${name}=${JSON.stringify(value)}\n`);
  writeFileSync(join(folder, '.env'), lines.join(''));
  return join(folder, 'langgraph.json');
}
