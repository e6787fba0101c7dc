import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { AppConfig } from '../config/config';

/** The description of what is served, written by the framework from the routes and their schemas. */
export function openApiDocument(app: NestFastifyApplication, config: AppConfig): OpenAPIObject {
  const description = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Gantry')
    .setDescription(
      'Self-hosted deployment server for agent graphs (LangGraph Platform API), trace ingestion, bulk export and webhooks.',
    )
    .setVersion(config.version)
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'api_key')
    .addSecurityRequirements('api_key')
    .build();
  return SwaggerModule.createDocument(app, description);
}

/** `/openapi.json` for machines and `/docs` for people. */
export function serveOpenApi(app: NestFastifyApplication, config: AppConfig): void {
  SwaggerModule.setup('docs', app, () => openApiDocument(app, config), {
    jsonDocumentUrl: 'openapi.json',
    customSiteTitle: 'Gantry API',
  });
}
