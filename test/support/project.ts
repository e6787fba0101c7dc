import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';

const LIBRARIES = join(__dirname, '..', '..', 'node_modules');
/** Dependencies of the projects of tests; a scoped package does not include its scope. */
const INSTALLED = ['@langchain', 'hono', 'zod', 'dotenv', 'pg'];

export interface Project {
  folder: string;
  path(file: string): string;
  remove(): void;
}

/**
 * A project outside of this repository, laid out as its users have it.
 * @param files by their path; values that aren't text are written as JSON
 * @param workspaces packages of the project that are linked into its `node_modules`, as npm, pnpm and yarn do: name → folder
 */
export function layOutProject(
  files: Record<string, string | object>,
  workspaces: Record<string, string> = {},
): Project {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'gantry-project-')));
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content, null, 2));
  }
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of INSTALLED) symlinkSync(join(LIBRARIES, name), join(modules, name));
  for (const [name, workspace] of Object.entries(workspaces)) {
    const link = join(modules, name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(relative(dirname(link), join(folder, workspace)), link);
  }
  return {
    folder,
    path: (file) => join(folder, file),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A module that exports `graph`, which answers `{ answer }` with what the expression is worth. */
export function answeringGraph(imports: string, expression: string): string {
  return `import { Annotation, END, START, StateGraph } from '@langchain/langgraph';
${imports}
const State = Annotation.Root({ answer: Annotation<unknown> });
export const graph = new StateGraph(State)
  .addNode('say', async () => ({ answer: ${expression} }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile();
`;
}
