import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { GraphLanguage } from '../../config/graph-language';
import { BOUNDED_CLONE, JSON_TEXT, type MessageCodec } from './message-channel';
import { type Confinement, spawnUserCode, startUserCodeProcess, type UserCodeProcess } from './user-code-process';

/** How a process for graphs of one language is started and spoken to. */
export interface GraphRuntime {
  language: GraphLanguage;
  codec: MessageCodec;
  start: (confinement: Confinement) => UserCodeProcess;
}

const PROCESS_FILE = join(__dirname, 'graph-process');

/**
 * LangChain calls its listeners from a queue of the whole process, and LangGraph's own stream of tokens is one of them: after
 * a slow listener tokens would come after the end of their node, or be lost with the stream's. Awaited, they come in order.
 */
const AWAITED_CALLBACKS = { LANGCHAIN_CALLBACKS_BACKGROUND: 'false' };

export const JAVASCRIPT_RUNTIME: GraphRuntime = {
  language: 'javascript',
  codec: BOUNDED_CLONE,
  start: (confinement) =>
    startUserCodeProcess(PROCESS_FILE, { ...confinement, env: { ...AWAITED_CALLBACKS, ...confinement.env } }),
};

/** @param program the interpreter, in whose environment the project's dependencies are */
export function pythonRuntime(program: string): GraphRuntime {
  return {
    language: 'python',
    codec: JSON_TEXT,
    start: ({ env, ...confinement }) =>
      spawnUserCode(program, ['-m', 'gantry_graphs'], {
        ...confinement,
        env: {
          ...env,
          PYTHONPATH: [pythonSources(), env.PYTHONPATH].filter(Boolean).join(delimiter),
          // What a node prints is in the log when it happens.
          PYTHONUNBUFFERED: '1',
        },
      }),
  };
}

/** The folder of the package `gantry_graphs`, from the sources as from what is compiled of them. */
function pythonSources(): string {
  for (let folder = __dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const sources = join(folder, 'python');
    if (existsSync(join(sources, 'gantry_graphs'))) return sources;
  }
  throw new Error('The Python package "gantry_graphs", which is part of Gantry, is missing from the installation');
}
