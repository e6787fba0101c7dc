import { decodedPath, originForm } from '../http/request-target';
import { CustomRoutes } from '../custom-app/custom-routes';
import { urlRewriter } from './url-rewriter';

describe('the target of a request', () => {
  it.each([
    ['/info?a=1', '/info?a=1'],
    ['http://gantry.example/info?a=1', '/info?a=1'],
    ['HTTPS://gantry.example:8443/info', '/info'],
    ['http://gantry.example', '/'],
    ['http://gantry.example?a=1', '/?a=1'],
    ['*', '*'],
  ])('is brought into origin form: %s', (target, expected) => expect(originForm(target)).toBe(expected));

  it.each([
    ['/%69nfo?a=%31', '/info'],
    ['http://gantry.example/%6D%65trics', '/metrics'],
    ['/info#x', '/info'],
    ['/a%2Fb', '/a/b'],
    ['/%zz', '/%zz'],
  ])('is read as the router reads it: %s', (target, expected) => expect(decodedPath(target)).toBe(expected));

  describe('behind switches of langgraph.json', () => {
    const rewrite = urlRewriter({ mountPrefix: '', isMetaDisabled: true }, undefined);
    const served = (target: string): string => rewrite('GET', target);

    it.each(['/info', '/%69nfo', '/info#x', '/info?a=1', 'http://gantry.example/info', '/api/v1/inf%6f', '/metrics'])(
      'is nowhere in any spelling: %s',
      (target) => expect(served(target)).toBe('/.gantry/nowhere'),
    );

    it.each(['/.gantry/app/x', '/%2egantry/app/x', '/.gantr%79/app/x', 'http://gantry.example/.gantry/app/x'])(
      'reaches no address of the server’s own: %s',
      (target) => expect(served(target)).toBe('/.gantry/nowhere'),
    );

    it('keeps everything else as it was', () => {
      expect(served('/threads/search?x=%20')).toBe('/threads/search?x=%20');
      expect(served('http://gantry.example/threads/search')).toBe('/threads/search');
    });

    it('goes to the user’s own route in any spelling of it', () => {
      const app = { routes: new CustomRoutes([{ method: 'GET', path: '/threads', part: 'route' }]) };
      const custom = urlRewriter({ mountPrefix: '', isMetaDisabled: false }, app);
      expect(custom('GET', '/threads?x=1')).toBe('/.gantry/app/threads?x=1');
      expect(custom('GET', '/%74hreads')).toBe('/.gantry/app/%74hreads');
    });

    it('passes the user’s middleware once, and never for the handshake of a WebSocket', () => {
      const app = { routes: new CustomRoutes([{ method: 'ALL', path: '/threads/*', part: 'middleware' }]) };
      const custom = urlRewriter({ mountPrefix: '/p', isMetaDisabled: false }, app);
      expect(custom('GET', '/p/%74hreads/1')).toBe('/.gantry/middleware/%74hreads/1');
      expect(custom('GET', '/p/threads/1', '', 'handshake')).toBe('/threads/1');
      expect(custom('GET', '/threads/1', '', 'app')).toBe('/threads/1');
    });
  });
});
