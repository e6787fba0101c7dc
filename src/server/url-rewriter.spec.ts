import { decodedPath, originForm } from '../http/request-target';
import { CustomRoutes } from '../custom-app/custom-routes';
import { ServedRoutes } from '../http/served-routes';
import { urlRewriter } from './url-rewriter';

describe('the target of a request', () => {
  it.each([
    ['/info?a=1', '/info?a=1'],
    ['http://gantry.example/info?a=1', '/info?a=1'],
    ['HTTPS://gantry.example:8443/info', '/info'],
    ['http://gantry.example', '/'],
    ['http://gantry.example?a=1', '/?a=1'],
    ['*', '*'],
  ])('is normalized to origin form: %s', (target, expected) => expect(originForm(target)).toBe(expected));

  it.each([
    ['/%69nfo?a=%31', '/info'],
    ['http://gantry.example/%6D%65trics', '/metrics'],
    ['/info#x', '/info'],
    ['/a%2Fb', '/a/b'],
    ['/%zz', '/%zz'],
  ])('is parsed as the router parses it: %s', (target, expected) => expect(decodedPath(target)).toBe(expected));

  describe('with routes that langgraph.json disables', () => {
    const rewrite = urlRewriter({ mountPrefix: '', isMetaDisabled: true }, undefined, new ServedRoutes());
    const served = (target: string): string => rewrite('GET', target);

    it.each(['/info', '/%69nfo', '/info#x', '/info?a=1', 'http://gantry.example/info', '/api/v1/inf%6f', '/metrics'])(
      'is not found in any spelling of a disabled route: %s',
      (target) => expect(served(target)).toBe('/.gantry/nowhere'),
    );

    it.each(['/.gantry/app/x', '/%2egantry/app/x', '/.gantr%79/app/x', 'http://gantry.example/.gantry/app/x'])(
      'reaches none of the server’s internal addresses: %s',
      (target) => expect(served(target)).toBe('/.gantry/nowhere'),
    );

    it('leaves all other targets unchanged', () => {
      expect(served('/threads/search?x=%20')).toBe('/threads/search?x=%20');
      expect(served('http://gantry.example/threads/search')).toBe('/threads/search');
    });

    it('reaches the user’s own route in any spelling of it', () => {
      const app = { routes: new CustomRoutes([{ method: 'GET', path: '/threads', part: 'route' }]) };
      const custom = urlRewriter({ mountPrefix: '', isMetaDisabled: false }, app, new ServedRoutes());
      expect(custom('GET', '/threads?x=1')).toBe('/.gantry/app/threads?x=1');
      expect(custom('GET', '/%74hreads')).toBe('/.gantry/app/%74hreads');
    });

    it('reaches the user’s WebSockets by handshakes alone, and takes none of the fixed addresses for them', () => {
      const routes = ['/chat/:p', '/ok'].map((path) => ({ method: 'GET', path, part: 'websocket' as const }));
      const custom = urlRewriter(
        { mountPrefix: '/p', isMetaDisabled: false },
        { routes: new CustomRoutes(routes, { readsEscapes: true }) },
        new ServedRoutes(),
      );
      expect(custom('GET', '/p/x/..%2Fchat/1?a', '', 'handshake')).toBe('/.gantry/socket/chat/1?a');
      expect(custom('GET', '/p/chat/1')).toBe('/chat/1');
      expect(custom('GET', '/p/chat/1', '', 'app')).toBe('/p/chat/1');
      expect(custom('GET', '/p/ok', '', 'handshake')).toBe('/ok');
    });

    it('is a route of the user’s where the API has none, if it may be middleware or a handler', () => {
      const app = { routes: new CustomRoutes([{ method: 'ALL', path: '*', part: 'either' }]) };
      const api = { has: (method: string, target: string) => method === 'GET' && target === '/threads/1?x' };
      const custom = urlRewriter({ mountPrefix: '', isMetaDisabled: false }, app, api);
      expect(custom('GET', '/thread/1?x')).toBe('/.gantry/middleware/thread/1?x');
      expect(custom('PUT', '/threads/1?x')).toBe('/.gantry/app/threads/1?x');
      expect(custom('PUT', '/threads/1?x', '', 'handshake')).toBe('/threads/1?x');
      expect(custom('OPTIONS', '/threads/1?x')).toBe('/threads/1?x');
    });

    it('passes through the user’s middleware once, and never for the handshake of a WebSocket', () => {
      const app = { routes: new CustomRoutes([{ method: 'ALL', path: '/threads/*', part: 'middleware' }]) };
      const custom = urlRewriter({ mountPrefix: '/p', isMetaDisabled: false }, app, new ServedRoutes());
      expect(custom('GET', '/p/%74hreads/1')).toBe('/.gantry/middleware/%74hreads/1');
      expect(custom('GET', '/p/threads/1', '', 'handshake')).toBe('/threads/1');
      expect(custom('GET', '/threads/1', '', 'app')).toBe('/threads/1');
    });
  });
});
