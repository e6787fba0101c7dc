import { isDeepStrictEqual } from 'node:util';
import { ConfigError } from '../../config/config-error';
import { type LanggraphJson, parseLanggraphJson, readProjectFile } from '../../config/langgraph-json';
import { type Check, Problem } from './finding';

/** The check of langgraph.json: whether what is served is still what the file says. */
export const projectCheck = (served: LanggraphJson): Check => ({
  name: 'config',
  look: () => checkProject(served),
  remedy: 'Check langgraph.json, to which GANTRY_CONFIG leads.',
});

function checkProject(served: LanggraphJson): string {
  const { path } = served;
  if (!isDeepStrictEqual(parseAgain(path), served)) {
    throw new Problem(`${path} has changed since this process started`, 'Restart Gantry to serve it.', 'warning');
  }
  return `${path}: ${served.graphs.map(({ graphId }) => graphId).join(', ')}`;
}

function parseAgain(path: string): LanggraphJson {
  try {
    return parseLanggraphJson(readProjectFile(path));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Problem(
      `${error.problems.join('; ')}. What was valid at the start of this process is still served`,
      'Correct the file before the next start.',
      'warning',
    );
  }
}
