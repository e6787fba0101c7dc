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
