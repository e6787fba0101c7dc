import { Controller, Get } from '@nestjs/common';
import { ApiNotFoundResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { z } from 'zod';
import { AppConfig } from '../../config/config';
import { RouteTags } from '../../http/route-tags';
import { authErrors } from '../auth.errors';
import { Public } from '../tenant';
import { METADATA_PATH, RESOURCES } from './challenge';

const metadataSchema = z
  .object({
    resource: z.string(),
    resource_name: z.string(),
    authorization_servers: z.array(z.string()),
    bearer_methods_supported: z.array(z.string()),
    scopes_supported: z.array(z.string()).optional(),
  })
  .meta({ id: 'ProtectedResourceMetadata' });

type Metadata = z.infer<typeof metadataSchema>;

/** Where OAuth clients learn which provider gives tokens for this server (RFC 9728). */
@RouteTags('Authentication')
@Public()
@Controller()
export class OAuthController {
  constructor(private readonly config: AppConfig) {}

  @Get(METADATA_PATH)
  @ApiOperation({ summary: 'Metadata of this server as an OAuth protected resource' })
  @ApiOkResponse({ standardSchema: metadataSchema })
  @ApiNotFoundResponse({ description: 'Access tokens are not accepted here' })
  server(): Metadata {
    return this.metadata('');
  }

  @Get(RESOURCES.map((resource) => `${METADATA_PATH}/${resource}`))
  @ApiOperation({ summary: 'Metadata of the MCP server as an OAuth protected resource' })
  @ApiOkResponse({ standardSchema: metadataSchema })
  @ApiNotFoundResponse({ description: 'Access tokens are not accepted here' })
  mcp(): Metadata {
    return this.metadata('/mcp');
  }

  private metadata(path: string): Metadata {
    const { oauth } = this.config.auth;
    if (!oauth) throw authErrors.noOAuth();
    return {
      resource: oauth.resource ?? `${oauth.baseUrl}${path}`,
      resource_name: 'Gantry',
      authorization_servers: [oauth.issuer],
      bearer_methods_supported: ['header'],
      ...(oauth.scopes.length > 0 && { scopes_supported: oauth.scopes }),
    };
  }
}
