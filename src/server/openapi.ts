import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { CustomAuth } from '../auth/custom/custom-auth';
import { NO_AUTH_SCHEME, USERS_SCHEME } from '../auth/tenant';
import { AppConfig } from '../config/config';
import { HttpSettings } from '../config/http-settings';
import type { AuthSource } from '../config/langgraph-json';
import { DESCRIBED_PATH } from '../http/aliased-controller';

const ERROR = {
  description:
    'An error: one sentence as `detail`, its stable `code`, and `errors` naming the fields when the request has the wrong shape',
  content: {
    'application/json': {
      schema: {
        type: 'object' as const,
        required: ['detail', 'code'],
        properties: {
          detail: { type: 'string' as const },
          code: { type: 'string' as const },
          errors: {
            type: 'array' as const,
            items: {
              type: 'object' as const,
              properties: {
                path: { type: 'string' as const },
                message: { type: 'string' as const },
                position: { type: 'integer' as const },
              },
            },
          },
        },
      },
    },
    'text/plain': { schema: { type: 'string' as const } },
  },
};

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;
type Operation = NonNullable<OpenAPIObject['paths'][string]['get']>;
type AliasedOperation = Operation & { [DESCRIBED_PATH]?: string };
type SecuritySchemes = NonNullable<NonNullable<OpenAPIObject['components']>['securitySchemes']>;

const KEY_SCHEME = 'api_key';
/** Default description of the custom auth. */
const USERS = { type: 'http', scheme: 'bearer', description: 'As auth.path of langgraph.json wants it' };

/** The description of what is served, written by the framework from the routes and their schemas. */
export function openApiDocument(app: NestFastifyApplication, config: AppConfig, settings: HttpSettings): OpenAPIObject {
  const description = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Gantry')
    .setDescription(
      'Self-hosted deployment server for agent graphs (LangGraph Platform API), trace ingestion, bulk export and webhooks.',
    )
    .setVersion(config.version)
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, KEY_SCHEME)
    .addSecurityRequirements(KEY_SCHEME)
    .addServer(settings.mountPrefix || '/')
    .build();
  const document = SwaggerModule.createDocument(app, description);
  leaveOutAliases(document);
  for (const [address, path] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = path[method];
      if (operation && settings.isDisabled(operation.tags ?? [])) delete path[method];
      else if (operation) operation.responses.default ??= ERROR;
    }
    if (Object.keys(path).length === 0) delete document.paths[address];
  }
  describeUsers(document, app.get(CustomAuth, { strict: false }).source);
  return document;
}

/** Describes only the first path of each {@link AliasedController}. */
function leaveOutAliases(document: OpenAPIObject): void {
  for (const [address, path] of Object.entries(document.paths)) {
    for (const method of METHODS) {
      const operation = path[method] as AliasedOperation | undefined;
      const described = operation?.[DESCRIBED_PATH];
      if (!operation || described === undefined) continue;
      delete operation[DESCRIBED_PATH];
      if (!address.startsWith(`/${described}`)) delete path[method];
      // The framework numbers the paths of a route that has several.
      else operation.operationId = operation.operationId?.replace(/\[\d+\]$/, '');
    }
    if (Object.keys(path).length === 0) delete document.paths[address];
  }
}

/** Public routes need no credentials; where the custom auth of langgraph.json lets callers in, it says how: `auth.openapi`. */
function describeUsers(document: OpenAPIObject, source: AuthSource | undefined): void {
  const { securitySchemes = {}, security, paths = {} } = source?.openapi ?? {};
  const schemes = Object.keys(securitySchemes).length > 0 ? securitySchemes : { [USERS_SCHEME]: USERS };
  const required = [
    ...(security ?? Object.keys(schemes).map((name) => ({ [name]: [] }))),
    ...(source?.allowApiKeys ? [{ [KEY_SCHEME]: [] }] : []),
  ];
  for (const operation of operationsOf(document)) {
    if (operation.security?.some((requirement) => NO_AUTH_SCHEME in requirement)) operation.security = [];
    if (!operation.security?.some((requirement) => USERS_SCHEME in requirement)) continue;
    if (source) operation.security = required;
    else delete operation.security;
  }
  if (!source) return;
  document.components ??= {};
  document.components.securitySchemes = { ...document.components.securitySchemes, ...(schemes as SecuritySchemes) };
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, said] of Object.entries(methods)) {
      const operation = document.paths[path]?.[method as 'get'];
      if (operation) Object.assign(operation, said);
    }
  }
}

function operationsOf(document: OpenAPIObject): Operation[] {
  return Object.values(document.paths).flatMap((path) => METHODS.flatMap((method) => path[method] ?? []));
}

/** `/openapi.json` for machines and `/docs` for people. */
export function serveOpenApi(app: NestFastifyApplication, config: AppConfig, settings: HttpSettings): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app, config, settings), {
    jsonDocumentUrl: 'openapi.json',
    raw: ['json'],
    customSiteTitle: 'Gantry API',
  });
}
