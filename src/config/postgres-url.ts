/** Rule for the URL of a database. Such a URL is a secret: no message repeats a part of it. */
export const POSTGRES_URL_RULE =
  'must be a URL such as postgres://user:password@host:5432/name, with # / ? @ and % in the password as %23 %2F %3F %40 and %25';

/**
 * Whether a text is a usable URL of a database. A password that isn't encoded often leaves a URL that is valid but means
 * another host.
 */
export function isPostgresUrl(text: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { hash, pathname } = new URL(text);
  return hash === '' && !pathname.includes('@');
}

/**
 * The same URL for libpq, with which graphs in Python connect: it lacks one of the TLS modes of Node's driver, and refuses the
 * parameter that chooses between the meanings of the others.
 */
export function toLibpqUrl(text: string): string {
  const url = new URL(text);
  const { searchParams } = url;
  const isUnverified = searchParams.get('sslmode') === 'no-verify';
  // Others stay as they were written: a query that is changed is encoded again.
  if (!isUnverified && !searchParams.has('uselibpqcompat')) return text;
  searchParams.delete('uselibpqcompat');
  if (isUnverified) {
    searchParams.set('sslmode', 'require');
    // With a certificate authority, libpq would verify in this mode as well.
    searchParams.delete('sslrootcert');
  }
  return changedUrl(url);
}

/** Text of a URL whose parameters were changed: that writes blanks as forms do, as `+`, which libpq takes literally. */
export function changedUrl(url: URL): string {
  // A plus is `%2B` there.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}
