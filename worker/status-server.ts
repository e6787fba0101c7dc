import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Logger } from '@nestjs/common';
import { AppConfig } from '../src/config/config';
import { Metrics } from '../src/metrics/metrics';
import { hostnameOf, isLoopbackName } from '../src/http/loopback';
import { carriesToken } from '../src/metrics/metrics-access';

/**
 * A worker's own small listener: `/metrics` for a scraper, `/ok` and `/ready` for probes. Events in a worker are counted there,
 * so the api can't report them.
 */
export class StatusServer {
  private readonly logger = new Logger(StatusServer.name);
  private readonly server: Server;

  /** @param isReady whether the worker takes work */
  constructor(
    private readonly config: AppConfig,
    private readonly metrics: Metrics,
    private readonly isReady: () => boolean,
  ) {
    this.server = createServer((request, response) => {
      this.answer(request, response).catch((error: unknown) => {
        this.logger.error({ err: error }, 'A request for the status of the worker failed');
        response.writeHead(500).end();
      });
    });
  }

  /** If the port is taken, as with several workers on one machine, a free one is used and logged. */
  async listen(): Promise<void> {
    const { listener } = this.config.worker;
    if (!listener) return;
    const { host, port } = listener;
    try {
      await this.bind(host, port);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      this.logger.warn(`Port ${port} is taken (GANTRY_WORKER_PORT); any free one is used`);
      await this.bind(host, 0);
    }
    const { address, port: bound } = this.server.address() as AddressInfo;
    const shown = address.includes(':') ? `[${address}]` : address;
    this.logger.log({ url: `http://${shown}:${bound}/metrics` }, 'Metrics of the worker');
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private bind(host: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen(port, host, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
  }

  /** A web page whose name was made to resolve to this machine (DNS rebinding) comes with that name. */
  private isOwnHost({ headers }: IncomingMessage): boolean {
    if (headers.host === undefined || this.config.telemetry.metricsToken !== undefined) return true;
    return (
      !isLoopbackName(hostnameOf(this.config.worker.listener?.host ?? '')) || isLoopbackName(hostnameOf(headers.host))
    );
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const json = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
    };
    if (!this.isOwnHost(request)) return json(403, { detail: 'This listener does not answer to this host name' });
    if (request.method !== 'GET' && request.method !== 'HEAD') return json(405, { detail: 'Method Not Allowed' });
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://worker');
    switch (pathname) {
      case '/ok':
        return json(200, { ok: true });
      case '/ready': {
        const ready = this.isReady();
        return json(ready ? 200 : 503, { ready });
      }
      case '/metrics': {
        const { metricsToken } = this.config.telemetry;
        if (metricsToken !== undefined && !carriesToken(request.headers.authorization, metricsToken)) {
          response.setHeader('www-authenticate', 'Bearer');
          return json(401, { detail: 'Send Authorization: Bearer <GANTRY_METRICS_TOKEN>' });
        }
        if (searchParams.get('format') === 'json') return json(200, { metrics: await this.metrics.toJson() });
        const { contentType, text } = await this.metrics.expose();
        response.writeHead(200, { 'content-type': contentType }).end(text);
        return;
      }
      default:
        return json(404, { detail: 'Not Found' });
    }
  }
}
