import { MigrationInterface, QueryRunner } from 'typeorm';

/** Tenants, keys, and the deployment server: assistants, threads, runs and the event log of runs. */
export class Core1700000000000 implements MigrationInterface {
  name = 'Core1700000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE tenants (
        tenant_id uuid PRIMARY KEY,
        name text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(`
      CREATE TABLE api_keys (
        api_key_id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenants,
        name text NOT NULL,
        hash bytea NOT NULL UNIQUE,
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz,
        revoked_at timestamptz
      )`);

    // System assistants have the same id in every tenant (uuid5 of the graph's name): the key needs both columns.
    await queryRunner.query(`
      CREATE TABLE assistants (
        tenant_id uuid NOT NULL REFERENCES tenants,
        assistant_id uuid NOT NULL,
        graph_id text NOT NULL,
        name text NOT NULL,
        description text,
        config jsonb NOT NULL DEFAULT '{}',
        context jsonb NOT NULL DEFAULT '{}',
        metadata jsonb NOT NULL DEFAULT '{}',
        version integer NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, assistant_id)
      )`);
    await queryRunner.query(`CREATE INDEX assistants_created ON assistants (tenant_id, created_at DESC)`);
    await queryRunner.query(`CREATE INDEX assistants_metadata ON assistants USING gin (metadata jsonb_path_ops)`);
    await queryRunner.query(`
      CREATE TABLE assistant_versions (
        tenant_id uuid NOT NULL,
        assistant_id uuid NOT NULL,
        version integer NOT NULL,
        graph_id text NOT NULL,
        name text NOT NULL,
        description text,
        config jsonb NOT NULL,
        context jsonb NOT NULL,
        metadata jsonb NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, assistant_id, version),
        FOREIGN KEY (tenant_id, assistant_id) REFERENCES assistants ON DELETE CASCADE
      )`);

    await queryRunner.query(`
      CREATE TABLE threads (
        thread_id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenants,
        status text NOT NULL DEFAULT 'idle' CHECK (status IN ('idle', 'busy', 'interrupted', 'error')),
        metadata jsonb NOT NULL DEFAULT '{}',
        config jsonb NOT NULL DEFAULT '{}',
        "values" jsonb,
        interrupts jsonb NOT NULL DEFAULT '{}',
        error jsonb,
        temporary boolean NOT NULL DEFAULT false,
        delete_after timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        state_updated_at timestamptz
      )`);
    await queryRunner.query(`CREATE INDEX threads_updated ON threads (tenant_id, updated_at DESC)`);
    await queryRunner.query(`CREATE INDEX threads_created ON threads (tenant_id, created_at DESC)`);
    await queryRunner.query(`CREATE INDEX threads_metadata ON threads USING gin (metadata jsonb_path_ops)`);
    await queryRunner.query(
      `CREATE INDEX threads_delete_after ON threads (delete_after) WHERE delete_after IS NOT NULL`,
    );

    // webhook is sealed: its URL may carry a token. kwargs shows it masked.
    // attempt is the fencing token: it grows by one each time a worker takes the run, and every write of a run's
    // execution carries it. A worker that lost the run without knowing it can change nothing.
    await queryRunner.query(`
      CREATE TABLE runs (
        run_id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenants,
        thread_id uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
        assistant_id uuid NOT NULL,
        graph_id text NOT NULL,
        status text NOT NULL DEFAULT 'pending'
          CHECK (status IN ('pending', 'running', 'success', 'error', 'timeout', 'interrupted')),
        attempt integer NOT NULL DEFAULT 0,
        cancel_action text CHECK (cancel_action IN ('interrupt', 'rollback')),
        metadata jsonb NOT NULL DEFAULT '{}',
        kwargs jsonb NOT NULL,
        multitask_strategy text NOT NULL,
        error jsonb,
        webhook text,
        scheduled_at timestamptz NOT NULL DEFAULT now(),
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        started_at timestamptz,
        ended_at timestamptz
      )`);
    await queryRunner.query(`CREATE INDEX runs_thread ON runs (thread_id, created_at)`);
    await queryRunner.query(`CREATE UNIQUE INDEX runs_one_running ON runs (thread_id) WHERE status = 'running'`);
    await queryRunner.query(
      `CREATE INDEX runs_in_flight ON runs (scheduled_at) WHERE status IN ('pending', 'running')`,
    );

    // Run ids are UUIDv7, so a range of ids is a range of creation times: days are partitions and are dropped whole.
    await queryRunner.query(`
      CREATE TABLE run_events (
        run_id uuid NOT NULL,
        seq integer NOT NULL,
        tenant_id uuid NOT NULL,
        event text NOT NULL,
        data text NOT NULL,
        PRIMARY KEY (run_id, seq)
      ) PARTITION BY RANGE (run_id)`);
    await queryRunner.query(`CREATE TABLE run_events_default PARTITION OF run_events DEFAULT`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['run_events', 'runs', 'threads', 'assistant_versions', 'assistants', 'api_keys', 'tenants']) {
      await queryRunner.query(`DROP TABLE ${table}`);
    }
  }
}
