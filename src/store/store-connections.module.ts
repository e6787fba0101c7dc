import { Module } from '@nestjs/common';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { StoreRepository } from './store.repository';

/** The store's statements on the process's own connections. */
@Module({
  providers: [
    {
      provide: StoreRepository,
      inject: [DataSource],
      useFactory: (database: DataSource) =>
        new StoreRepository((database.driver as unknown as PostgresDriver).master as Pool),
    },
  ],
  exports: [StoreRepository],
})
export class StoreConnectionsModule {}
