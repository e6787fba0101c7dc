import { Module } from '@nestjs/common';
import { AdminController } from './admin.controller';
import { AuthModule } from './auth.module';
import { TenantsModule } from './tenants.module';

/** The operator's routes for tenants and their keys. */
@Module({ imports: [AuthModule, TenantsModule], controllers: [AdminController] })
export class AuthApiModule {}
