import { Global, Module } from '@nestjs/common';
import { Metrics } from './metrics';

/** Metrics, in both processes: what happens in a process is counted there. */
@Global()
@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
