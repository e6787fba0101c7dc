import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { paginate } from '../http/pagination';
import { RouteTags } from '../http/route-tags';
import { toApiKey, toTenant } from './admin.mapper';
import {
  type ApiKey,
  apiKeySchema,
  type CreatedApiKey,
  createdKeySchema,
  type CreateKey,
  createKeySchema,
  type CreateTenant,
  createTenantSchema,
  keyParam,
  type ListKeys,
  listKeysQuery,
  type ListTenants,
  listTenantsQuery,
  type PatchTenant,
  patchTenantSchema,
  type Tenant,
  tenantParam,
  tenantSchema,
} from './admin.schemas';
import { OperatorOnly } from './tenant';
import { TenantsService } from './tenants.service';

/** Tenants and keys, for the operator: takes GANTRY_ADMIN_KEY as X-API-Key. */
@RouteTags('Admin')
@OperatorOnly()
@Controller('admin')
export class AdminController {
  constructor(private readonly tenants: TenantsService) {}

  @Post('tenants')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a tenant' })
  @ApiOkResponse({ standardSchema: tenantSchema })
  async createTenant(@Body({ schema: createTenantSchema }) body: CreateTenant): Promise<Tenant> {
    return toTenant(await this.tenants.createTenant(body.name, body.tenant_id));
  }

  @Get('tenants')
  @ApiOperation({ summary: 'Tenants, oldest first' })
  @ApiOkResponse({ standardSchema: z.array(tenantSchema) })
  async listTenants(
    @Query({ schema: listTenantsQuery }) { limit, offset }: ListTenants,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Tenant[]> {
    return paginate(reply, await this.tenants.listTenants(limit, offset), offset).map(toTenant);
  }

  @Get('tenants/:tenant_id')
  @ApiOperation({ summary: 'Get a tenant' })
  @ApiOkResponse({ standardSchema: tenantSchema })
  async getTenant(@Param({ schema: tenantParam }) { tenant_id }: z.infer<typeof tenantParam>): Promise<Tenant> {
    return toTenant(await this.tenants.getTenant(tenant_id));
  }

  @Patch('tenants/:tenant_id')
  @ApiOperation({ summary: 'Rename a tenant, or switch its entitlements' })
  @ApiOkResponse({ standardSchema: tenantSchema })
  async patchTenant(
    @Param({ schema: tenantParam }) { tenant_id }: z.infer<typeof tenantParam>,
    @Body({ schema: patchTenantSchema.prefault({}) }) body: PatchTenant,
  ): Promise<Tenant> {
    return toTenant(await this.tenants.changeTenant(tenant_id, body));
  }

  @Post('keys')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create an API key: the only answer that has the key itself' })
  @ApiOkResponse({ standardSchema: createdKeySchema })
  async createKey(@Body({ schema: createKeySchema }) body: CreateKey): Promise<CreatedApiKey> {
    const expiresAt = body.expires_at === undefined ? null : new Date(body.expires_at);
    const { row, key } = await this.tenants.createKey(body.tenant_id, body.name, expiresAt);
    return { ...toApiKey(row), key };
  }

  @Get('keys')
  @ApiOperation({ summary: 'API keys, newest first, revoked ones too' })
  @ApiOkResponse({ standardSchema: z.array(apiKeySchema) })
  async listKeys(
    @Query({ schema: listKeysQuery }) { tenant_id, limit, offset }: ListKeys,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApiKey[]> {
    return paginate(reply, await this.tenants.listKeys(tenant_id, limit, offset), offset).map(toApiKey);
  }

  @Delete('keys/:key_id')
  @HttpCode(200)
  @ApiOperation({ summary: 'Revoke an API key; it stays in the list' })
  @ApiOkResponse({ standardSchema: apiKeySchema })
  async revokeKey(@Param({ schema: keyParam }) { key_id }: z.infer<typeof keyParam>): Promise<ApiKey> {
    return toApiKey(await this.tenants.revokeKey(key_id));
  }
}
