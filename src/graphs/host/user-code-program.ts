import { existsSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { languageOf } from '../../config/graph-language';
import type { PythonSettings } from '../../config/python-settings';
import { JSON_TEXT, type MessageCodec, BOUNDED_CLONE } from './message-channel';
import { type Confinement, spawnUserCode, startUserCodeProcess, type UserCodeProcess } from './user-code-process';

/** How a process for user code of one language is started and spoken to. */
export interface UserCodeProgram {
  codec: MessageCodec;
  start: (confinement: Confinement) => UserCodeProcess;
}

/** @param file the module of Gantry to run, without its ending: `.ts` or `.js`, as this one has */
export function javascriptProgram(file: string): UserCodeProgram {
  return { codec: BOUNDED_CLONE, start: (confinement) => startUserCodeProcess(file, confinement) };
}

/** @param module of the folder `python` */
export function pythonProgram({ interpreter, importFolders }: PythonSettings, module: string): UserCodeProgram {
  return {
    codec: JSON_TEXT,
    start: ({ env, memoryMb, ...confinement }) =>
      spawnUserCode(
        interpreter,
        [
          ...['-m', module],
          ...(memoryMb === undefined ? [] : [`--memory-mb=${memoryMb}`]),
          // Not in PYTHONPATH, which precedes the libraries: a project's `http.py` must not replace the one of Python.
          ...importFolders.map((folder) => `--import-folder=${folder}`),
        ],
        {
          ...confinement,
          env: {
            ...env,
            PYTHONPATH: [pythonSources(), env.PYTHONPATH].filter(Boolean).join(delimiter),
            // What user code prints is in the log when it happens.
            PYTHONUNBUFFERED: '1',
          },
        },
      ),
  };
}

/** The program of two that runs a file of the user's, by the file's language. */
export function programFor(
  userFile: string,
  settings: PythonSettings,
  { javascript, python }: { javascript: string; python: string },
): UserCodeProgram {
  return languageOf(userFile) === 'python' ? pythonProgram(settings, python) : javascriptProgram(javascript);
}

/** The folder of the package `gantry_graphs`, from the sources as from what is compiled of them. */
function pythonSources(): string {
  for (let folder = __dirname; folder !== dirname(folder); folder = dirname(folder)) {
    const sources = join(folder, 'python');
    if (existsSync(join(sources, 'gantry_graphs'))) return sources;
  }
  throw new Error('The Python package "gantry_graphs", which is part of Gantry, is missing from the installation');
}
