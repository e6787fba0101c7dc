import { Pool } from 'pg';
import { createTestDatabase, type TestDatabase } from './database';
import { Ledger } from './ledger';
import { pythonForGraphs } from './python';
import { SupervisedGantry } from './supervised-gantry';

/**
 * A supervised Gantry that serves graphs of the tests, and whose Postgres and Temporal can be killed because nothing else uses them.
 * The ledger is in the Postgres of the test run.
 */
export class SupervisedGraphs {
  readonly ledger: Ledger;
  readonly sql: Pool;

  private constructor(
    private readonly gantry: SupervisedGantry,
    private readonly outside: TestDatabase,
    private readonly ledgerSql: Pool,
  ) {
    this.ledger = new Ledger(ledgerSql);
    this.sql = new Pool({ connectionString: gantry.endpoints.postgres });
    // Its connections break when Postgres is killed.
    this.sql.on('error', () => undefined);
  }

  /** @param graphs path of a langgraph.json */
  static async start(graphs: string, env: Record<string, string> = {}): Promise<SupervisedGraphs> {
    const outside = await createTestDatabase();
    const ledgerSql = new Pool({ connectionString: outside.url });
    try {
      await new Ledger(ledgerSql).create();
      const gantry = await SupervisedGantry.start({
        ...env,
        GANTRY_POSTGRES_PORT: '0',
        GANTRY_TEMPORAL_PORT: '0',
        GANTRY_S3_PORT: '0',
        GANTRY_CONFIG: graphs,
        GANTRY_PYTHON: pythonForGraphs(),
        GANTRY_TRACING: 'off',
        GANTRY_TEST_LEDGER_URL: outside.url,
        GANTRY_GRAPH_ENV: 'GANTRY_TEST_*',
      });
      return new SupervisedGraphs(gantry, outside, ledgerSql);
    } catch (error) {
      await ledgerSql.end();
      await outside.drop();
      throw error;
    }
  }

  get url(): string {
    return this.gantry.endpoints.api;
  }

  /** Kills a part by SIGKILL and resolves when it is up again. */
  async kill(part: string): Promise<void> {
    await this.gantry.killPart(part);
  }

  logs(): string {
    return this.gantry.printed;
  }

  async stop(): Promise<void> {
    await this.sql.end();
    await this.ledgerSql.end();
    await this.gantry.discard();
    await this.outside.drop();
  }
}
