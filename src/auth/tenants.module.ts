import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ApiKeyEntity } from './api-key.entity';
import { TenantEntity } from './tenant.entity';
import { TenantsRepository } from './tenants.repository';
import { TenantsService } from './tenants.service';

/** The operator's side of tenants and keys: all that the command line needs. */
@Module({
  imports: [TypeOrmModule.forFeature([TenantEntity, ApiKeyEntity])],
  providers: [TenantsRepository, TenantsService],
  exports: [TenantsService],
})
export class TenantsModule {}
