import { Global, Module } from '@nestjs/common';
import { Metrics } from './metrics';

/** In both processes: whatever happens somewhere is counted there. */
@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
