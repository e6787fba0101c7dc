import { Module } from '@nestjs/common';
import { AdminController } from './admin.controller';
import { AuthModule } from './auth.module';
import { EntitlementsModule } from './entitlements.module';
import { MeController } from './me.controller';
import { TenantsModule } from './tenants.module';

/** The operator's routes for tenants and their keys, and what a caller may know of itself. */
@Module({ imports: [AuthModule, EntitlementsModule, TenantsModule], controllers: [AdminController, MeController] })
export class AuthApiModule {}
