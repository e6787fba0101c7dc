import { Module } from '@nestjs/common';
import { AdminController } from './admin.controller';
import { AuthModule } from './auth.module';
import { EntitlementsModule } from './entitlements.module';
import { MeController } from './me.controller';
import { OAuthController } from './oauth/oauth.controller';
import { TenantsModule } from './tenants.module';

/** The operator's routes for tenants and their keys, the route by which callers check their credentials, and where tokens come from. */
@Module({
  imports: [AuthModule, EntitlementsModule, TenantsModule],
  controllers: [AdminController, MeController, OAuthController],
})
export class AuthApiModule {}
