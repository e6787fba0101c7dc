import { join } from 'node:path';
import type { GraphLanguage } from '../../config/graph-language';
import type { PythonSettings } from '../../config/python-settings';
import { BOUNDED_CLONE } from './message-channel';
import { startUserCodeProcess } from './user-code-process';
import { pythonProgram, type UserCodeProgram } from './user-code-program';

/** Starts processes for graphs of one language. */
export interface GraphRuntime extends UserCodeProgram {
  language: GraphLanguage;
  /** Advice for an operator where its processes don't start; absent where an installation of Gantry lacks nothing. */
  advice?: string;
}

const PROCESS_FILE = join(__dirname, 'graph-process.main');

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

export function pythonRuntime(settings: PythonSettings): GraphRuntime {
  return {
    language: 'python',
    advice: `${settings.interpreter} has to be Python 3.10 or newer with the libraries of python/requirements.txt and of the project: GANTRY_PYTHON names another one (docs/python.md)`,
    ...pythonProgram(settings, 'gantry_graphs'),
  };
}
