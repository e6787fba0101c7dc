/**
 * @library node 24
 * @patch Adds endings to `Module._extensions`, which Node has deprecated and keeps.
 * @why Graphs import prompts from text files, as bundlers let them. The hooks of ES modules have no say in `require`.
 * @upstream https://nodejs.org/api/modules.html#requireextensions
 * @remove When `module.registerHooks` serves CommonJS and ES modules in threads alike, and tsx uses it.
 */
import { readFileSync } from 'node:fs';
import Module, { register } from 'node:module';

/** Extensions that are imported as text without `with { type: 'text' }`, as bundlers and Bun do. */
const TEXT_ENDINGS = ['.txt', '.md'];

/** Source of the hooks of Node's loader of ES modules, which run in a thread of their own: plain JavaScript without imports of ours. */
const HOOKS = `
  import { readFileSync } from 'node:fs';
  import { fileURLToPath } from 'node:url';
  const endings = ${JSON.stringify(TEXT_ENDINGS)};
  const isText = (url, { importAttributes }) =>
    importAttributes.type === 'text' || endings.some((ending) => url.split('?')[0].endsWith(ending));
  export async function load(url, context, next) {
    if (!url.startsWith('file:') || !isText(url, context)) return next(url, context);
    const text = readFileSync(fileURLToPath(url), 'utf8');
    return { format: 'module', shortCircuit: true, source: 'export default ' + JSON.stringify(text) };
  }`;

type Extensions = Record<string, (module: NodeJS.Module, file: string) => void>;

/** Lets the thread's modules import texts, such as prompts that lie beside them. To be called once. */
export function importTexts(): void {
  register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
  const { _extensions: extensions } = Module as unknown as { _extensions: Extensions };
  for (const ending of TEXT_ENDINGS) {
    extensions[ending] = (module, file) => {
      module.exports = readFileSync(file, 'utf8');
    };
  }
}
