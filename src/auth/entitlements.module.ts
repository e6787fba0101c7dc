import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DatabaseModule } from '../database/database.module';
import { EntitlementsService } from './entitlements.service';
import { TenantEntity } from './tenant.entity';

/** Entitlements of tenants, for the guard of the api and for scheduled work of the worker. */
@Module({
  imports: [TypeOrmModule.forFeature([TenantEntity]), DatabaseModule],
  providers: [EntitlementsService],
  exports: [EntitlementsService],
})
export class EntitlementsModule {}
