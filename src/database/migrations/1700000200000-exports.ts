import { MigrationInterface, QueryRunner } from 'typeorm';

/** Bulk export: where exports go, what was asked for, the partitions of each, and the files that were written. */
export class Exports1700000200000 implements MigrationInterface {
  name = 'Exports1700000200000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE export_destinations (
        tenant_id uuid NOT NULL REFERENCES tenants,
        destination_id uuid NOT NULL,
        destination_type text NOT NULL CHECK (destination_type = 's3'),
        display_name text NOT NULL,
        config jsonb NOT NULL,
        credentials text,
        credentials_keys text[] NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, destination_id)
      )`);

    // The window's instants keep their microseconds: a bound that loses digits loses rows.
    // workflow_seen_at is for the sweep: when the workflow was last known to be there; null means it was never started.
    await queryRunner.query(`
      CREATE TABLE bulk_exports (
        tenant_id uuid NOT NULL REFERENCES tenants,
        export_id uuid NOT NULL,
        destination_id uuid NOT NULL,
        session_id uuid NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz,
        interval_hours integer CHECK (interval_hours BETWEEN 1 AND 168),
        filter text,
        format text NOT NULL DEFAULT 'Parquet',
        format_version text NOT NULL,
        compression text NOT NULL,
        export_fields text[],
        status text NOT NULL CHECK (status IN
          ('Created', 'IntervalScheduled', 'Running', 'Completed', 'Failed', 'Cancelled', 'TimedOut')),
        source_bulk_export_id uuid,
        error text,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        started_at timestamptz,
        planned_at timestamptz,
        finished_at timestamptz,
        workflow_seen_at timestamptz,
        PRIMARY KEY (tenant_id, export_id),
        FOREIGN KEY (tenant_id, destination_id) REFERENCES export_destinations,
        FOREIGN KEY (tenant_id, source_bulk_export_id) REFERENCES bulk_exports,
        CHECK ((end_time IS NULL) = (interval_hours IS NOT NULL)),
        CHECK (end_time > start_time)
      )`);
    await queryRunner.query(
      `CREATE INDEX bulk_exports_created ON bulk_exports (tenant_id, created_at DESC, export_id)`,
    );
    // A window of a schedule is spawned once, however often the spawning is repeated.
    await queryRunner.query(`
      CREATE UNIQUE INDEX bulk_exports_window ON bulk_exports (tenant_id, source_bulk_export_id, start_time)
        WHERE source_bulk_export_id IS NOT NULL`);
    await queryRunner.query(`
      CREATE INDEX bulk_exports_turn ON bulk_exports (tenant_id, created_at, export_id)
        WHERE status IN ('Created', 'Running')`);
    await queryRunner.query(`
      CREATE INDEX bulk_exports_open ON bulk_exports (workflow_seen_at)
        WHERE status IN ('Created', 'IntervalScheduled', 'Running')`);

    // attempt is the fencing token of a partition: only the attempt that holds it may record a file.
    await queryRunner.query(`
      CREATE TABLE bulk_export_runs (
        tenant_id uuid NOT NULL,
        export_run_id uuid NOT NULL,
        export_id uuid NOT NULL,
        day date NOT NULL,
        start_time timestamptz NOT NULL,
        end_time timestamptz NOT NULL,
        status text NOT NULL CHECK (status IN ('Created', 'Running', 'Completed', 'Failed', 'Cancelled', 'TimedOut')),
        attempt integer NOT NULL DEFAULT 0,
        retry_number integer NOT NULL DEFAULT 0,
        errors jsonb,
        rows_planned bigint NOT NULL,
        rows_written bigint NOT NULL DEFAULT 0,
        bytes_written bigint NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        started_at timestamptz,
        finished_at timestamptz,
        PRIMARY KEY (tenant_id, export_run_id),
        UNIQUE (tenant_id, export_id, day),
        FOREIGN KEY (tenant_id, export_id) REFERENCES bulk_exports ON DELETE CASCADE
      )`);
    await queryRunner.query(`
      CREATE INDEX bulk_export_runs_open ON bulk_export_runs (updated_at) WHERE status IN ('Created', 'Running')`);

    // A file is listed here after the store has acknowledged it; the last key of the last file is where a retry resumes.
    await queryRunner.query(`
      CREATE TABLE bulk_export_files (
        tenant_id uuid NOT NULL,
        export_run_id uuid NOT NULL,
        part integer NOT NULL,
        object_key text NOT NULL,
        rows bigint NOT NULL,
        bytes bigint NOT NULL,
        md5 text NOT NULL,
        first_start_time timestamptz NOT NULL,
        first_run_id uuid NOT NULL,
        last_start_time timestamptz NOT NULL,
        last_run_id uuid NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, export_run_id, part),
        FOREIGN KEY (tenant_id, export_run_id) REFERENCES bulk_export_runs ON DELETE CASCADE
      )`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['bulk_export_files', 'bulk_export_runs', 'bulk_exports', 'export_destinations']) {
      await queryRunner.query(`DROP TABLE ${table}`);
    }
  }
}
