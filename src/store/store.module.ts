import { Module } from '@nestjs/common';
import { CustomAuthModule } from '../auth/custom/custom-auth.module';
import { GraphRegistry } from '../graphs/graph-registry';
import { GraphHosts } from '../graphs/host/graph-hosts';
import { ItemStore } from '../item-store/item-store';
import { ItemStoreModule } from '../item-store/item-store.module';
import { StoreRepository } from '../item-store/store.repository';
import { StoreService } from './store.service';

/** The store of items as the api serves it. */
@Module({
  imports: [CustomAuthModule, ItemStoreModule],
  exports: [StoreService],
  providers: [
    StoreService,
    {
      provide: ItemStore,
      inject: [StoreRepository, GraphRegistry, GraphHosts],
      useFactory: (repository: StoreRepository, registry: GraphRegistry, graphs: GraphHosts) =>
        // The embedding function is user code: it runs where all of that does, in a graph thread.
        new ItemStore(repository, registry.config.store, async (tenantId, kind, texts) => {
          const vectors = await graphs.call('embed', { tenantId, kind, texts });
          return JSON.parse(vectors) as number[][];
        }),
    },
  ],
})
export class StoreModule {}
