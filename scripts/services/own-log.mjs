import { say } from './progress.mjs';

const ERROR_LEVEL = 50;
/** Errors that are shown once: enough for those that repeat, and a bound. */
const REMEMBERED_ERRORS = 1_000;

/**
 * Shows on the terminal what a developer must not miss of the logs of the api and the worker: each error once. Both load the
 * graphs, so both report one that can't be loaded.
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
    const error = errorIn(line);
    if (error === undefined || shown.has(error)) return;
    if (shown.size === REMEMBERED_ERRORS) shown.clear();
    shown.add(error);
    say(name, error);
  };
}

/** The error that a line of a log reports. @param {string} line */
function errorIn(line) {
  try {
    const { level, msg, err } = JSON.parse(line);
    // The error of a request that failed has a line of its own.
    if (!(level >= ERROR_LEVEL) || msg === 'request') return undefined;
    return err?.message ? `${msg}: ${err.message}` : msg;
  } catch {
    return undefined;
  }
}
