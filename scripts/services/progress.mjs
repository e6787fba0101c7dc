const startedAt = Date.now();
/** @type {NodeJS.WritableStream} */
let stream = process.stdout;

/**
 * Where progress is reported, when standard output belongs to something else.
 * @param {NodeJS.WritableStream} other
 */
export function sayTo(other) {
  stream = other;
}

/**
 * One line for what has just happened, with the seconds since the start in front.
 * @param {string} subject
 * @param {string} text
 */
export function say(subject, text) {
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(1).padStart(6);
  stream.write(`${seconds}s  ${subject.padEnd(13)} ${text}\n`);
}

/**
 * Repeats what is being waited for every ten seconds, so that a long step never looks like a hang.
 * @template T
 * @param {string} subject
 * @param {string} text
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function sayWhile(subject, text, work) {
  say(subject, text);
  const since = Date.now();
  const timer = setInterval(() => {
    say(subject, `still ${text} (${Math.round((Date.now() - since) / 1000)} s)`);
  }, 10_000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
