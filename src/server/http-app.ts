import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import rateLimit from '@fastify/rate-limit';
import { type DynamicModule, Logger as NestLog, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, NestFastifyApplication } from '@nestjs/platform-fastify';
import { type FastifyReply, type FastifyRequest, LogController } from 'fastify';
import type { Logger } from 'pino';
import { AuthGuard } from '../auth/auth.guard';
import { CustomAuthDecides } from '../auth/tenant';
import { DocsAccess } from '../auth/docs-access';
import { RATE_LIMIT_OPTIONS } from '../auth/rate-limiter';
import { AppConfig } from '../config/config';
import { type CorsSettings, HttpSettings } from '../config/http-settings';
import { CustomApp } from '../custom-app/custom-app';
import { CustomRoutes } from '../custom-app/custom-routes';
import { serveCustomApp } from '../custom-app/custom-app.plugin';
import { APP_PROCESS_ADDRESS, isInnerCall, serveInnerApi } from '../custom-app/inner-api';
import { userCodeEnvironment } from '../graphs/user-code-environment';
import { callInterceptorsDirectly } from '../patches/nestjs/direct-interceptors';
import { contextOf } from '../patches/nestjs/routes';
import { telemetry } from '../telemetry/start-telemetry';
import { Admission } from './admission';
import { statusOf, whenAnswered } from '../telemetry/answered';
import { limitBodies, readBodies } from '../http/bodies';
import { Connections } from '../http/connections';
import { stringifyDeep } from '../http/deep-json';
import { Drain } from '../http/drain';
import { HttpMetrics } from '../http/http.metrics';
import { NestLogger } from '../http/logging';
import { OpenStreams } from '../http/open-streams';
import { serveConsole } from './console';
import { serveOpenApi } from './openapi';
import { PageAccess, refuseForeignPages } from '../http/page-access';
import { isConsoleRoute, isDocsRoute, sendSecurityHeaders, tokenOrigins } from '../http/security-headers';
import { refuseOddHosts } from '../http/request-target';
import { MAX_PARAMETER_LENGTH, ServedRoutes } from '../http/served-routes';
import { checkStreams, limitStreams } from '../http/stream-limit';
import { answerUnrouted } from '../http/unrouted-requests';
import { urlRewriter } from './url-rewriter';
import { acceptWebSockets } from '../http/web-sockets';

const HEADERS_TIMEOUT_MS = 30_000;
/** How often Node looks for requests that are late. */
const TIMEOUT_CHECK_MS = 5_000;

/** The HTTP application, complete but not listening: the process listens, tests inject. */
export async function createHttpApp(
  rootModule: Type | DynamicModule,
  config: AppConfig,
  logger: Logger,
): Promise<NestFastifyApplication> {
  // User code is loaded, and may log, before there is an application that has a logger.
  NestLog.overrideLogger(new NestLogger(logger));
  const settings = HttpSettings.of(config);
  const { auth, env } = config.langgraphJson;
  const confinement = () => ({ env: userCodeEnvironment(config, env), ...config.graphs.user });
  const customApp = settings.app && (await CustomApp.start(settings.app, config.python, confinement()));
  const routes = new ServedRoutes();
  const rewriteUrl = urlRewriter(settings, customApp, routes);
  const trustedProxies = [...config.http.trustedProxies, ...(customApp ? [APP_PROCESS_ADDRESS] : [])];
  const adapter = new FastifyAdapter({
    loggerInstance: logger,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: config.http.bodyLimitBytes,
    trustProxy: trustedProxies.length > 0 && trustedProxies,
    // A client that sends slowly holds a connection, and what it has sent is held in memory.
    requestTimeout: config.http.requestTimeoutMs,
    http: {
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, config.http.requestTimeoutMs),
      connectionsCheckingInterval: Math.min(TIMEOUT_CHECK_MS, config.http.requestTimeoutMs),
    },
    // A stream may last for hours. Broken off, its client comes back to another replica with its last event id.
    forceCloseConnections: true,
    routerOptions: { maxParamLength: MAX_PARAMETER_LENGTH },
    genReqId: (request: IncomingMessage) => {
      const given = request.headers['x-request-id'];
      return typeof given === 'string' && given.length <= 200 ? given : randomUUID();
    },
    rewriteUrl: (request: IncomingMessage) => {
      const { method = 'GET', url = '/', headers } = request;
      // Node's word and not a header's, which any request may carry.
      const isHandshake = 'upgrade' in request && request.upgrade === true;
      const from = isInnerCall(request) ? 'app' : isHandshake ? 'handshake' : 'client';
      return rewriteUrl(method, url, headers['user-agent'], from);
    },
  });
  const fastify = adapter.getInstance();
  if (customApp) routes.noteRoutesOf(fastify);
  refuseOddHosts(fastify);
  limitBodies(fastify, config);
  fastify.setReplySerializer(stringifyDeep);
  fastify.decorate('openStreams', new OpenStreams());
  fastify.decorate('connections', new Connections(fastify.server));
  await fastify.register(rateLimit, RATE_LIMIT_OPTIONS);
  await acceptWebSockets(fastify, settings.cors, config.http.bodyLimitBytes);
  await sendSecurityHeaders(fastify, tokenOrigins(auth?.openapi));
  if (customApp) {
    fastify.addHook('onClose', () => customApp.close());
    await serveInnerApi(fastify, customApp.innerSocketPath);
  }
  callInterceptorsDirectly();
  const app = await NestFactory.create<NestFastifyApplication>(rootModule, adapter, {
    bodyParser: false,
    logger: new NestLogger(logger),
    abortOnError: false,
  });
  const asksForKeys = config.auth.isEnabled || auth !== undefined;
  const pages = asksForKeys ? undefined : new PageAccess(config.http, settings.cors);
  answerBrowsers(app, settings.cors, pages);
  readBodies(fastify);
  logRequests(app, logger, settings);
  if (pages) refuseForeignPages(fastify, pages);
  answerUnrouted(fastify);
  sendClientsAway(app);
  app.get(HttpMetrics).observe(app);
  telemetry()?.observe(app);
  app.get(Admission).install(fastify);
  limitStreams(fastify, config.http.streamsPerKey);
  if (!settings.isMetaDisabled) {
    protectDocs(app);
    serveOpenApi(app, config, settings);
    if (config.http.servesConsole) await serveConsole(fastify);
  }
  if (customApp) await serveCustomApp(fastify, customApp, customAppGuard(app, settings, config.http.streamsPerKey));
  return app;
}

/**
 * Pages of other origins: Studio and chat front ends call this API from the browser.
 * @param pages those that may, where the API asks for no key; the preflights of others are left to be refused
 */
function answerBrowsers(app: NestFastifyApplication, cors: CorsSettings, pages: PageAccess | undefined): void {
  // Asked for by browsers before a public page may reach a private address, such as this machine's own.
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onSend', (request, reply, _payload, done) => {
      const isAsked =
        request.method === 'OPTIONS' && request.headers['access-control-request-private-network'] === 'true';
      if (isAsked && reply.hasHeader('access-control-allow-origin')) {
        void reply.header('access-control-allow-private-network', 'true');
      }
      done();
    });
  const origins = cors.origins.includes('*') ? '*' : cors.origins;
  app.enableCors({
    origin: pages
      ? (asking: string | undefined, answer: (error: Error | null, allowed: typeof origins | false) => void) =>
          answer(null, asking === undefined || pages.admits(asking) ? origins : false)
      : origins,
    methods: cors.methods,
    ...(cors.headers && { allowedHeaders: cors.headers }),
    credentials: cors.credentials,
    exposedHeaders: cors.exposedHeaders,
    maxAge: cors.maxAgeSeconds,
  });
}

function protectDocs(app: NestFastifyApplication): void {
  const access = app.get(DocsAccess, { strict: false });
  app
    .getHttpAdapter()
    .getInstance()
    .addHook('onRequest', async (request) => {
      if (isDocsRoute(request.routeOptions.url)) await access.check(request);
    });
}

/** Open to all, as in SystemController and the console. */
const isPublic = (path: string): boolean => path === '/' || path === '/info' || isConsoleRoute(path);

/** Stands for every route of the API, before the request is routed. */
@CustomAuthDecides()
class ApiRoutes {}

/**
 * The user's own routes require the same credentials as the API's, unless `enable_custom_route_auth` is false. Requests for
 * the API's routes are authenticated after the app's middleware, and with `auth_first` before it as well.
 */
function customAppGuard(
  app: NestFastifyApplication,
  settings: HttpSettings,
  streamsPerKey: number,
): (request: FastifyRequest, reply: FastifyReply, passedOnTo: string | undefined) => Promise<void> {
  const guard = app.get(AuthGuard);
  return async (request, reply, passedOnTo) => {
    if (passedOnTo === undefined ? !settings.protectsApp : !settings.authFirst || isPublic(passedOnTo)) return;
    const controller = passedOnTo === undefined ? CustomRoutes : ApiRoutes;
    const context = contextOf(request, reply, { controller, handler: serveCustomApp });
    // What is passed on is counted by the API, which is asked again.
    await (passedOnTo === undefined ? guard.canActivate(context) : guard.identify(context));
    if (request.ws) checkStreams(request, streamsPerKey);
  };
}

/** While the process drains, no client keeps a connection that would be closed just when its next request arrives. */
function sendClientsAway(app: NestFastifyApplication): void {
  const drain = app.get(Drain);
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onSend', (_request, reply, _payload, done) => {
    if (drain.isDraining) void reply.header('connection', 'close');
    done();
  });
}

function logRequests(app: NestFastifyApplication, logger: Logger, settings: HttpSettings): void {
  const fastify = app.getHttpAdapter().getInstance();
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    whenAnswered(reply, () => logAnswer(request, reply));
    done();
  });
  const logAnswer = (request: FastifyRequest, reply: FastifyReply): void => {
    const status = statusOf(reply);
    const level = status >= 500 ? 'error' : status >= 400 ? 'info' : 'debug';
    const headers = settings.loggedHeaders.of(request.headers);
    // The route's pattern and not the URL: a query may hold a secret.
    logger[level](
      {
        request_id: request.id,
        method: request.method,
        route: request.routeOptions.url,
        status,
        ms: Math.round(reply.elapsedTime),
        ...(Object.keys(headers).length > 0 && { request_headers: headers }),
      },
      'request',
    );
  };
}
