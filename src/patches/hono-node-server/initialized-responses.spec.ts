import { createAdaptorServer } from '@hono/node-server';
import { expectLibrary } from '../../../test/support/library-guard';
import { initializeResponses } from './initialized-responses';

describe('responses of the adaptor of Hono', () => {
  const { Request: request, Response: response } = globalThis;

  afterAll(() => {
    for (const [name, value] of Object.entries({ Request: request, Response: response })) {
      Object.defineProperty(globalThis, name, { value });
    }
  });

  it('can be made from each other', async () => {
    createAdaptorServer({ fetch: () => new Response() });
    expectLibrary(Response !== response, 'The library no longer puts a class of its own in the place of Response.');
    const copy = (): Response => new Response(null, new Response('text'));
    let fails = false;
    try {
      copy();
    } catch {
      fails = true;
    }
    expectLibrary(fails, 'A response can be made from one without an `init`: the patch can go.');
    initializeResponses();
    expect([copy().status, await copy().text()]).toEqual([200, '']);
    expect(new Response(null, new Response('x', { status: 201, headers: { a: 'b' } })).headers.get('a')).toBe('b');
    expect(new Response('x') instanceof response).toBe(true);
  });
});
