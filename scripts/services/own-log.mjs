import { say } from './progress.mjs';

const WARNING_LEVEL = 40;
const ERROR_LEVEL = 50;
/** Maximum number of lines that are remembered as shown. */
const REMEMBERED_LINES = 1_000;
/** Fields of every line of the log. */
const COMMON_FIELDS = new Set(['level', 'time', 'pid', 'hostname', 'process', 'context', 'msg', 'err', 'request_id']);

/**
 * Shows errors and warnings of the api and the worker on the terminal: each error once, and the first warning of each kind.
 * Both processes load the graphs, so both report one that can't be loaded.
 * @param {boolean} isVerbose whether every line is shown
 * @returns {(name: string, line: string) => void}
 */
export function showOwnLog(isVerbose) {
  /** @type {Set<string>} */
  const shown = new Set();
  return (name, line) => {
    if (name !== 'api' && name !== 'worker') return;
    if (isVerbose) {
      process.stdout.write(`${name} | ${line}\n`);
      return;
    }
    const notable = notableIn(line);
    if (notable === undefined || shown.has(notable.key)) return;
    if (shown.size === REMEMBERED_LINES) shown.clear();
    shown.add(notable.key);
    say(name, notable.text);
  };
}

/**
 * The error or warning that a line of a log reports, and what is the same in its repetitions.
 * @param {string} line
 * @returns {{ text: string, key: string } | undefined}
 */
function notableIn(line) {
  try {
    const { level, msg, err, ...fields } = JSON.parse(line);
    // The error of a failed request has a line of its own.
    if (!(level >= WARNING_LEVEL) || msg === 'request') return undefined;
    const text = err?.message ? `${msg}: ${err.message}` : msg;
    if (level >= ERROR_LEVEL) return { text, key: text };
    // Temporal's SDK warns of what is intended here, such as a worker without workflows.
    if (fields.sdkComponent !== undefined) return undefined;
    const more = Object.entries(fields).filter(([name]) => !COMMON_FIELDS.has(name));
    const details = more.length > 0 ? ` ${JSON.stringify(Object.fromEntries(more))}` : '';
    return { text: `warning: ${text}${details}`, key: `warning: ${msg}` };
  } catch {
    return undefined;
  }
}
