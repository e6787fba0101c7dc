import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DatabaseModule } from '../database/database.module';
import { EntitlementsService } from './entitlements.service';
import { TenantEntity } from './tenant.entity';

/** What tenants may use, for the guard of the api and for what the worker does on a schedule. */
@Module({
  imports: [TypeOrmModule.forFeature([TenantEntity]), DatabaseModule],
  providers: [EntitlementsService],
  exports: [EntitlementsService],
})
export class EntitlementsModule {}
