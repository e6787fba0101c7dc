import { type AddressInfo, connect } from 'node:net';
import { Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import fastify from 'fastify';
import { waitFor } from '../../test/support/wait-for';
import { OpenAnswer } from '../http/open-answer';
import { OpenStreams } from '../http/open-streams';
import { CallProgress } from './call-progress';

/** Together far more than the system buffers for a connection. */
const STEPS = 1_000;
const STEP_BYTES = 100_000;

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'agent', arguments: {}, _meta: { progressToken: 1 } },
};

describe('the progress of a call', () => {
  it('is reported no faster than the client reads, until it leaves', async () => {
    const app = fastify();
    app.decorate('openStreams', new OpenStreams());
    let reported = 0;
    let isOver = false;
    app.get('/', async (_request, reply) => {
      const answer = new OpenAnswer(reply, 'wait');
      const server = new Server({ name: 'a', version: '1' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/call', async (_call, context) => {
        const progress = CallProgress.of(context)!;
        for (; reported < STEPS && !context.mcpReq.signal.aborted; reported += 1)
          await progress.reportProgress([
            { event: 'custom', data: JSON.stringify('x'.repeat(STEP_BYTES)), seq: reported },
          ]);
        isOver = context.mcpReq.signal.aborted;
        return { content: [] };
      });
      const transport = new WebStandardStreamableHTTPServerTransport();
      await server.connect(transport);
      answer.signal.addEventListener('abort', () => void server.close());
      return transport.handleRequest(
        new Request('http://a/', {
          method: 'POST',
          headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
          body: JSON.stringify(CALL),
        }),
        { authInfo: { token: '', clientId: '', scopes: [], extra: { caller: { answer } } } },
      );
    });
    await app.listen({ port: 0 });
    const client = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    try {
      client.pause();
      client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
      const counts: number[] = [];
      await waitFor('the progress to stand still', () => {
        counts.push(reported);
        return counts.length > 5 && reported > 0 && new Set(counts.slice(-5)).size === 1;
      });
      expect(reported).toBeLessThan(STEPS / 2);
      client.destroy();
      await waitFor('the end of the call', () => isOver);
    } finally {
      client.destroy();
      await app.close();
    }
  });
});
