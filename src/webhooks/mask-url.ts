const MASK = '***';
/** An origin and a path longer than `/`. A path of this server, which has no origin, is one of its routes. */
const PATH = /^((?:[a-z][a-z0-9+.-]*:)?\/\/[^/\\]*)[/\\].+$/is;

/**
 * A webhook's URL as it may be shown, stored in clear and logged: the path is masked, since the addresses of many receivers are
 * secrets (`/services/T…/B…/…`), and every query value, since others are protected by `?token=…`; so are userinfo and a query
 * without a name. A fragment is never sent, and is removed. Also works for URLs that can't be parsed.
 */
export function maskUrl(url: string): string {
  const [withoutFragment = ''] = url.split('#', 1);
  const cut = withoutFragment.indexOf('?');
  const location = cut === -1 ? withoutFragment : withoutFragment.slice(0, cut);
  const shown = location.replace(
    /^([a-z][a-z0-9+.-]*:)?\/\/[^/]*@/i,
    (_, scheme?: string) => `${scheme ?? ''}//${MASK}@`,
  );
  const masked = shown.replace(PATH, (_, origin: string) => `${origin}/${MASK}`);
  if (cut === -1) return masked;
  const query = withoutFragment.slice(cut + 1).split('&');
  return `${masked}?${query.map(maskParameter).join('&')}`;
}

function maskParameter(parameter: string): string {
  const equals = parameter.indexOf('=');
  if (equals === -1) return parameter === '' ? '' : MASK;
  return `${parameter.slice(0, equals)}=${MASK}`;
}
