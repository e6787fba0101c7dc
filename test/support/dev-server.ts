import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GantryProcess } from './gantry-process';
import { SHAPE_GRAPHS } from './gantry';
import { freePort } from './ports';
import { layOutProject } from './project';

const SCRIPT = join(__dirname, 'dev-server-process.mjs');
const GRAPHS = join(__dirname, 'graphs');

/** Timeout of the first call: the server compiles a graph's file for its schemas, which takes long on a busy machine. */
export const SCHEMAS_MS = 100_000;

export interface DevServer {
  url: string;
  stop(): Promise<void>;
}

/** The public JavaScript dev server with the graphs of shapes.json, as a control of what clients get elsewhere. */
export async function startDevServer(env: Record<string, string>): Promise<DevServer> {
  const sources = readdirSync(GRAPHS).filter((name) => name.endsWith('.ts'));
  const project = layOutProject({
    'package.json': { type: 'module' },
    ...Object.fromEntries(sources.map((name) => [name, readFileSync(join(GRAPHS, name), 'utf8')])),
  });
  const { graphs } = JSON.parse(readFileSync(SHAPE_GRAPHS, 'utf8')) as { graphs: Record<string, unknown> };
  const port = await freePort();
  const options = JSON.stringify({ graphs, port });
  try {
    const server = await GantryProcess.start(
      'dev server',
      SCRIPT,
      { LANGGRAPH_SCHEMA_RESOLVE_TIMEOUT_MS: String(SCHEMAS_MS), ...env, DEV_SERVER_OPTIONS: options },
      project.folder,
    );
    return {
      url: `http://127.0.0.1:${port}`,
      stop: async () => {
        await server.kill('SIGKILL');
        project.remove();
      },
    };
  } catch (error) {
    project.remove();
    throw error;
  }
}
