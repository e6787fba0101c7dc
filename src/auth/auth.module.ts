import { Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeyEntity } from './api-key.entity';
import { ApiKeysService } from './api-keys.service';
import { AuthGuard } from './auth.guard';
import { TenantEntity } from './tenant.entity';

@Module({
  imports: [TypeOrmModule.forFeature([ApiKeyEntity, TenantEntity])],
  providers: [ApiKeysService, { provide: APP_GUARD, useClass: AuthGuard }],
  exports: [ApiKeysService],
})
export class AuthModule {}
