import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ApiError } from '../http/api-error';

/** Output of `npm run build` for console/; sources that run uncompiled find it there as well. */
const BUILT = [join(__dirname, '..', '..', 'console'), join(__dirname, '..', '..', 'dist', 'console')];
const AS_LONG_AS_POSSIBLE_MS = 31_536_000_000;

/**
 * The console, a single page for every address below `/console` and the files that it loads. Both are public: they hold code
 * and no data, and the page asks for credentials itself.
 */
export async function serveConsole(fastify: FastifyInstance): Promise<void> {
  const folder = BUILT.find((path) => existsSync(join(path, 'assets')));
  const page = folder === undefined ? undefined : await readFile(join(folder, 'index.html'), 'utf8');
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = request.url.split(/[?#]/, 1)[0];
    if (page === undefined) {
      throw new ApiError(404, 'console_not_built', 'The console is not built: run "npm run build"', { format: 'text' });
    }
    // The page's own address decides where its files are, whatever prefix a proxy or langgraph.json gives the server.
    const up = path === '/console' ? './console/' : '../'.repeat(path.split('/').length - 3) || './';
    return reply
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(page.replaceAll('"./', `"${up}`));
  };
  if (folder !== undefined) {
    await fastify.register(fastifyStatic, {
      root: join(folder, 'assets'),
      prefix: '/console/assets/',
      decorateReply: false,
      index: false,
      preCompressed: true,
      immutable: true,
      maxAge: AS_LONG_AS_POSSIBLE_MS,
    });
  }
  fastify.get('/console', answer);
  fastify.get('/console/*', answer);
}
