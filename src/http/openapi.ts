import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { AppConfig } from '../config/config';
import { HttpSettings } from '../config/http-settings';

/** The answer of a streaming route: server-sent events. */
export const EVENT_STREAM = {
  description: 'Server-sent events: `event`, `data` (JSON), `id`',
  content: { 'text/event-stream': { schema: { type: 'string' as const } } },
};

const ERROR = {
  description:
    'An error: one sentence as `detail`, with `errors` naming the fields when the request has the wrong shape',
  content: {
    'application/json': {
      schema: {
        type: 'object' as const,
        required: ['detail'],
        properties: {
          detail: { type: 'string' as const },
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

/** The description of what is served, written by the framework from the routes and their schemas. */
export function openApiDocument(app: NestFastifyApplication, config: AppConfig, settings: HttpSettings): OpenAPIObject {
  const description = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Gantry')
    .setDescription(
      'Self-hosted deployment server for agent graphs (LangGraph Platform API), trace ingestion, bulk export and webhooks.',
    )
    .setVersion(config.version)
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'api_key')
    .addSecurityRequirements('api_key')
    .addServer(settings.mountPrefix || '/')
    .build();
  const document = SwaggerModule.createDocument(app, description);
  for (const [address, path] of Object.entries(document.paths)) {
    for (const method of ['get', 'put', 'post', 'patch', 'delete'] as const) {
      const operation = path[method];
      if (operation && settings.isDisabled(operation.tags ?? [])) delete path[method];
      else if (operation) operation.responses.default ??= ERROR;
    }
    if (Object.keys(path).length === 0) delete document.paths[address];
  }
  return document;
}

/** `/openapi.json` for machines and `/docs` for people. */
export function serveOpenApi(app: NestFastifyApplication, config: AppConfig, settings: HttpSettings): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app, config, settings), {
    jsonDocumentUrl: 'openapi.json',
    customSiteTitle: 'Gantry API',
  });
}
