import { Module } from '@nestjs/common';
import { APP_FILTER, APP_GUARD, APP_PIPE } from '@nestjs/core';
import { Drain } from './drain';
import { ErrorFilter } from './error.filter';
import { HttpMetrics } from './http.metrics';
import { RouteGroupsGuard } from './route-groups.guard';
import { RequestValidationPipe } from './validation.pipe';

/** What every route of the api has in common. */
@Module({
  providers: [
    Drain,
    HttpMetrics,
    { provide: APP_GUARD, useClass: RouteGroupsGuard },
    { provide: APP_FILTER, useClass: ErrorFilter },
    { provide: APP_PIPE, useClass: RequestValidationPipe },
  ],
  exports: [Drain, HttpMetrics],
})
export class HttpModule {}
