import { once } from 'node:events';
import { createServer } from 'node:http';

/**
 * @typedef {{ headers: import('node:http').IncomingHttpHeaders, body: string, drop: () => void }} LoopbackRequest
 * `drop` closes the connection without an answer.
 */

/**
 * A server on a free port of this machine.
 * @param {(request: LoopbackRequest) => { status: number, body?: string } | undefined} handle
 */
export async function startLoopbackServer(handle) {
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const answer = handle({ headers: request.headers, body, drop: () => request.socket.destroy() });
      if (!answer) return;
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body ?? '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
