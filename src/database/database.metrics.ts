import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { AppConfig } from '../config/config';
import { poolOf } from '../patches/typeorm/driver-pool';
import { Metrics } from '../metrics/metrics';

export interface PoolState {
  max: number;
  open: number;
  idle: number;
  /** Queries that wait for a connection. */
  waiting: number;
}

/** The process's two pools of Postgres connections, taken together, as gauges. */
@Injectable()
export class DatabaseMetrics {
  constructor(
    @InjectDataSource() private readonly database: DataSource,
    private readonly config: AppConfig,
    metrics: Metrics,
  ) {
    const connections = metrics.gauge({
      name: 'gantry_database_pool_connections',
      help: "Connections of the process's two Postgres pools, for requests and for all other work",
      labelNames: ['state'],
      collect: () => {
        const { open, idle } = this.pool();
        connections.set({ state: 'idle' }, idle);
        connections.set({ state: 'used' }, open - idle);
      },
    });
    const size = metrics.gauge({
      name: 'gantry_database_pool_max_connections',
      help: 'The most connections that each of the two pools opens',
    });
    size.set(config.database.poolSize);
    const waiting = metrics.gauge({
      name: 'gantry_database_pool_waiting',
      help: 'Queries that wait for a connection of the pool',
      collect: () => {
        waiting.set(this.pool().waiting);
      },
    });
  }

  pool(): PoolState {
    // Absent while the connection is being made.
    const pool = poolOf<Pool>(this.database);
    return {
      max: this.config.database.poolSize,
      open: pool?.totalCount ?? 0,
      idle: pool?.idleCount ?? 0,
      waiting: pool?.waitingCount ?? 0,
    };
  }
}
