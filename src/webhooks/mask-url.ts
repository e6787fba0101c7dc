const MASK = '***';

/**
 * A webhook's URL as it may be shown, stored in clear and logged: every query value is masked, since receivers are
 * protected by `?token=…`; so are userinfo and a query without a name. A fragment is never sent, and goes.
 * Works on what can't be parsed too.
 */
export function maskUrl(url: string): string {
  const [withoutFragment = ''] = url.split('#', 1);
  const cut = withoutFragment.indexOf('?');
  const location = cut === -1 ? withoutFragment : withoutFragment.slice(0, cut);
  const shown = location.replace(
    /^([a-z][a-z0-9+.-]*:)?\/\/[^/]*@/i,
    (_, scheme?: string) => `${scheme ?? ''}//${MASK}@`,
  );
  if (cut === -1) return shown;
  const query = withoutFragment.slice(cut + 1).split('&');
  return `${shown}?${query.map(maskParameter).join('&')}`;
}

function maskParameter(parameter: string): string {
  const equals = parameter.indexOf('=');
  if (equals === -1) return parameter === '' ? '' : MASK;
  return `${parameter.slice(0, equals)}=${MASK}`;
}
