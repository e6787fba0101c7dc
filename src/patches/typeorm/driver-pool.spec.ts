import { defaults, type PoolClient } from 'pg';
import { DataSource } from 'typeorm';
import { expectLibrary } from '../../../test/support/library-guard';
import { poolOf, takeConnection } from './driver-pool';

const client = { query: (_text: string, done?: (error: null, result: object) => void) => done?.(null, { rows: [{}] }) };

/** A pool of one connection that goes nowhere. */
class OnePool {
  on(): this {
    return this;
  }

  connect(callback: (error: undefined, client: PoolClient, release: () => void) => void): void {
    callback(undefined, client as unknown as PoolClient, () => undefined);
  }
}

describe("TypeORM's driver", () => {
  it('exposes the pool that it made, and uses its connections', async () => {
    const source = new DataSource({ type: 'postgres', driver: { Pool: OnePool, defaults } });
    expect(poolOf(source)).toBeUndefined();
    const { driver } = source as unknown as {
      driver: { createPool(options: object, login: object): Promise<unknown>; master: unknown };
    };
    driver.master = await driver.createPool(source.options, {});
    expectLibrary(
      poolOf(source) instanceof OnePool,
      '`driver.master` is not the pool: its connections can not be taken.',
    );
    const [taken] = await takeConnection(source);
    expectLibrary(
      taken === (client as unknown),
      '`obtainMasterConnection` answers something else than a connection and its release.',
    );
  });
});
