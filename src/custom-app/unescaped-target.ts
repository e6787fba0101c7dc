/**
 * A target whose path says what a server reads that unescapes all of it, slashes as well: `/a%2F..%2Fb` is `/b`. Only what would
 * mean something else unescaped stays as it is: `%`, `?`, `#`, `\\`.
 */
export function unescapedTarget(target: string): string {
  const { pathname, search } = new URL(`http://app${target.startsWith('/') ? '' : '/'}${target}`);
  const path = encodeURI(unescape(pathname)).replace(/[?#]/g, encodeURIComponent);
  return new URL(`http://app${path}`).pathname + search;
}

/** Bytes that are no UTF-8 become replacement characters, as they do in Python. */
const unescape = (path: string): string =>
  path.replace(/(?:%[\da-f]{2})+/gi, (escapes) => Buffer.from(escapes.replaceAll('%', ''), 'hex').toString());
