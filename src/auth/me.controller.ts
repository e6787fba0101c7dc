import { Controller, Get, Req } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { RouteTags } from '../http/route-tags';
import { type Me, meSchema } from './me.schemas';
import { ENTITLEMENTS } from './entitlements';
import { EntitlementsService } from './entitlements.service';
import { CustomAuthDecides, Tenant, type TenantId } from './tenant';

/** The caller's own identity; pages check credentials with it. */
@RouteTags('System')
@CustomAuthDecides()
@Controller('api/v1/me')
export class MeController {
  constructor(private readonly entitlements: EntitlementsService) {}

  @Get()
  @ApiOperation({ summary: 'Who the caller is' })
  @ApiOkResponse({ standardSchema: meSchema })
  async me(@Tenant() tenantId: TenantId, @Req() { actor, user }: FastifyRequest): Promise<Me> {
    const entitlements = await Promise.all(
      ENTITLEMENTS.map(async (each) => [each, await this.entitlements.has(tenantId, each)] as const),
    );
    return {
      tenant_id: tenantId,
      kind: user || actor?.kind === 'user' ? 'user' : actor?.kind === 'key' ? 'api_key' : 'none',
      identity: user?.identity ?? actor?.id ?? null,
      permissions: user?.permissions ?? null,
      entitlements: Object.fromEntries(entitlements) as Me['entitlements'],
    };
  }
}
