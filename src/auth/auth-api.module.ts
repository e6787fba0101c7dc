import { Module } from '@nestjs/common';
import { AdminController } from './admin.controller';
import { AuthModule } from './auth.module';
import { EntitlementsModule } from './entitlements.module';
import { MeController } from './me.controller';
import { TenantsModule } from './tenants.module';

/** The operator's routes for tenants and their keys, and the route by which callers check their credentials. */
@Module({ imports: [AuthModule, EntitlementsModule, TenantsModule], controllers: [AdminController, MeController] })
export class AuthApiModule {}
