import { Module } from '@nestjs/common';
import { ItemStoreModule } from '../item-store/item-store.module';
import { StoreExpirySweep } from './store-expiry.sweep';

/** The worker's half: items that are past their time. Graphs reach the store in their own processes. */
@Module({ imports: [ItemStoreModule], providers: [StoreExpirySweep] })
export class StoreWorkerModule {}
