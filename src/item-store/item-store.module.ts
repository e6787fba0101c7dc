import { Module } from '@nestjs/common';
import type { PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import type { TenantPool } from '../database/tenant-pool';
import { poolOf } from '../patches/typeorm/driver-pool';
import { type StoreConnections, StoreRepository } from './store.repository';

/** The process's own connections, which are those of a request's tenant within a request. */
function connectionsOf(database: DataSource): StoreConnections {
  const pool = poolOf<TenantPool>(database)!;
  return {
    connect: () =>
      new Promise<PoolClient>((resolve, reject) => {
        pool.connect((error, client) => (client ? resolve(client) : reject(error ?? new Error('No connection'))));
      }),
  };
}

/** The store's statements on the process's own connections. */
@Module({
  providers: [
    {
      provide: StoreRepository,
      inject: [DataSource],
      useFactory: (database: DataSource) => new StoreRepository(connectionsOf(database)),
    },
  ],
  exports: [StoreRepository],
})
export class ItemStoreModule {}
