/** Maximum number of characters of a line. */
const LONGEST = 1024 * 1024;

/**
 * Calls a function with each line of a text stream. Longer lines than a process should hold come in pieces: `readline` keeps
 * a line of any length, and throws where it becomes longer than a string can be.
 * @param {import('node:stream').Readable} input
 * @param {(line: string) => void} onLine
 */
export function readLines(input, onLine) {
  let line = '';
  const end = () => {
    onLine(line.endsWith('\r') ? line.slice(0, -1) : line);
    line = '';
  };
  const take = (/** @type {string} */ piece) => {
    line += piece;
    while (line.length > LONGEST) {
      onLine(line.slice(0, LONGEST));
      line = line.slice(LONGEST);
    }
  };
  // Its decoder keeps a character whose bytes come in two chunks.
  input.setEncoding('utf8');
  input.on('data', (/** @type {string} */ text) => {
    const [rest, ...following] = text.split('\n');
    take(rest);
    for (const piece of following) {
      end();
      take(piece);
    }
  });
  input.on('end', () => {
    if (line !== '') end();
  });
}
