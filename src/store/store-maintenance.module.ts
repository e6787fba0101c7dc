import { Module } from '@nestjs/common';
import { GraphsModule } from '../graphs/graphs.module';
import { StoreConnectionsModule } from '../item-store/store-connections.module';
import { StoreExpirySweep } from './store-expiry.sweep';

/** What the worker process does for the store beside its graphs: no routes. */
@Module({
  imports: [StoreConnectionsModule, GraphsModule.for('run')],
  providers: [StoreExpirySweep],
  exports: [StoreExpirySweep],
})
export class StoreMaintenanceModule {}
