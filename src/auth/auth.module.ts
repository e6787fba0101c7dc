import { Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DatabaseModule } from '../database/database.module';
import { ApiKeysService } from './api-keys.service';
import { AuthGuard } from './auth.guard';
import { ApiKeyEntity } from './api-key.entity';
import { DocsAccess } from './docs-access';
import { CustomAuthModule } from './custom/custom-auth.module';
import { EntitlementsModule } from './entitlements.module';
import { KeyUsage } from './key-usage';
import { AccessTokens } from './oauth/access-tokens';
import { RateLimiter } from './rate-limiter';
import { RefusedLogins } from './refused-logins';
import { StreamAccess } from './stream-access';
import { TenantEntity } from './tenant.entity';
import { TenantScopeInterceptor } from './tenant-scope.interceptor';
import { TenantsModule } from './tenants.module';

/** Identification of callers and their tenants. */
@Module({
  imports: [
    TypeOrmModule.forFeature([ApiKeyEntity, TenantEntity]),
    CustomAuthModule,
    DatabaseModule,
    EntitlementsModule,
    TenantsModule,
  ],
  providers: [
    AccessTokens,
    ApiKeysService,
    KeyUsage,
    RateLimiter,
    RefusedLogins,
    StreamAccess,
    AuthGuard,
    DocsAccess,
    { provide: APP_INTERCEPTOR, useClass: TenantScopeInterceptor },
  ],
  exports: [ApiKeysService, AuthGuard, DocsAccess],
})
export class AuthModule {}
