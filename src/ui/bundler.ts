import { join } from 'node:path';
import { MessageChannel } from '../graphs/host/message-channel';
import { type Confinement, startUserCodeProcess } from '../graphs/host/user-code-process';
import type { BundleAnswer, BundleRequest } from './bundler.protocol';

const PROCESS_FILE = join(__dirname, 'bundler-process');
/** A bundle takes a second or two; a plugin that never ends must not keep requests waiting for ever. */
const TIMEOUT_MS = 120_000;

/**
 * Bundles UI components with `@langchain/langgraph-ui`, one after the other, in a process of their own.
 * @param onAnswer called once for each name of the request
 * @param signal ends the process
 */
export async function bundleUis(
  request: BundleRequest,
  confinement: Confinement,
  onAnswer: (answer: BundleAnswer) => void,
  signal: AbortSignal,
): Promise<void> {
  const waiting = new Set(Object.keys(request.uis));
  const { child, messages } = startUserCodeProcess(PROCESS_FILE, confinement);
  const end = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const kill = (): boolean => child.kill('SIGKILL');
  end.addEventListener('abort', kill);
  await new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
    const take = (message: unknown): void => {
      const answer = message as BundleAnswer;
      if (!waiting.delete(answer.name)) return;
      onAnswer(answer);
      if (waiting.size === 0) kill();
    };
    new MessageChannel(messages, take, kill).send(request);
    if (end.aborted) kill();
  });
  end.removeEventListener('abort', kill);
  const error = end.aborted ? `bundling took over ${TIMEOUT_MS / 1000} s` : 'the bundler ended unexpectedly';
  for (const name of waiting) onAnswer({ name, error });
}
