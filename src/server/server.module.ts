import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE, DiscoveryModule } from '@nestjs/core';
import { AuthModule } from '../auth/auth.module';
import { Admission } from './admission';
import { Drain } from '../http/drain';
import { ErrorFilter } from '../http/error.filter';
import { HttpMetrics } from '../http/http.metrics';
import { RouteGroupsGuard } from '../http/route-groups.guard';
import { RequestValidationPipe } from '../http/validation.pipe';

/** Providers for all routes of the api. */
@Module({
  imports: [AuthModule, DiscoveryModule],
  providers: [
    Admission,
    Drain,
    HttpMetrics,
    RouteGroupsGuard,
    { provide: APP_GUARD, useExisting: Admission },
    { provide: APP_FILTER, useClass: ErrorFilter },
    { provide: APP_PIPE, useClass: RequestValidationPipe },
  ],
  exports: [Admission, Drain, HttpMetrics],
})
export class ServerModule {}
