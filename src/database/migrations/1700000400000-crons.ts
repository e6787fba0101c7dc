import { MigrationInterface, QueryRunner } from 'typeorm';

/** Crons, and the log of their fires. */
export class Crons1700000400000 implements MigrationInterface {
  name = 'Crons1700000400000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // thread_id and assistant_id are no foreign keys: a cron outlives what it needs, stopped, and says so.
    // revision counts the changes that its Schedule has to follow, synced_revision is the one that the Schedule shows.
    // last_tick_at is how far the ticks have been dealt with: what is due comes after it.
    // A deleted cron is a row with deleted_at until its Schedule is gone too.
    await queryRunner.query(`
      CREATE TABLE crons (
        cron_id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenants,
        assistant_id uuid NOT NULL,
        thread_id uuid,
        user_id text NOT NULL DEFAULT '',
        schedule text NOT NULL,
        timezone text,
        end_time timestamptz,
        payload jsonb NOT NULL,
        metadata jsonb NOT NULL DEFAULT '{}',
        webhook text,
        on_run_completed text CHECK (on_run_completed IN ('delete', 'keep')),
        catchup text NOT NULL CHECK (catchup IN ('latest', 'all', 'skip')),
        overlap text NOT NULL CHECK (overlap IN ('allow', 'skip')),
        enabled boolean NOT NULL,
        status_reason text,
        stopped_by text CHECK (stopped_by IN ('thread', 'assistant', 'end_time')),
        next_run_at timestamptz,
        last_tick_at timestamptz NOT NULL,
        last_fire_id uuid,
        consecutive_failures integer NOT NULL DEFAULT 0,
        last_failure jsonb,
        revision integer NOT NULL DEFAULT 1,
        synced_revision integer NOT NULL DEFAULT 0,
        deleted_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(`CREATE INDEX crons_created ON crons (tenant_id, created_at DESC)`);
    await queryRunner.query(`CREATE INDEX crons_thread ON crons (thread_id) WHERE thread_id IS NOT NULL`);
    await queryRunner.query(`CREATE INDEX crons_assistant ON crons (tenant_id, assistant_id)`);
    await queryRunner.query(`CREATE INDEX crons_metadata ON crons USING gin (metadata jsonb_path_ops)`);
    // The sweep's questions; each index is empty when there is nothing to do.
    await queryRunner.query(
      `CREATE INDEX crons_unsynced ON crons (updated_at) WHERE revision <> synced_revision OR deleted_at IS NOT NULL`,
    );
    await queryRunner.query(`CREATE INDEX crons_due ON crons (next_run_at) WHERE enabled`);
    await queryRunner.query(`CREATE INDEX crons_ending ON crons (end_time) WHERE enabled AND end_time IS NOT NULL`);

    // A tick is one row, however often and by whichever process it is requested. Its run's id is given with the row, and the run is
    // inserted in the transaction that takes the row out of 'pending': that makes it one run a tick.
    await queryRunner.query(`
      CREATE TABLE cron_fires (
        fire_id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL,
        cron_id uuid NOT NULL REFERENCES crons ON DELETE CASCADE,
        scheduled_at timestamptz NOT NULL,
        trigger text NOT NULL CHECK (trigger IN ('schedule', 'manual', 'backfill')),
        status text NOT NULL CHECK (status IN
          ('pending', 'started', 'success', 'error', 'timeout', 'interrupted', 'failed', 'skipped')),
        run_id uuid NOT NULL UNIQUE,
        thread_id uuid,
        error text,
        missed integer NOT NULL DEFAULT 0,
        created_at timestamptz NOT NULL DEFAULT now(),
        fired_at timestamptz,
        ended_at timestamptz,
        UNIQUE (cron_id, scheduled_at)
      )`);
    await queryRunner.query(`CREATE INDEX cron_fires_log ON cron_fires (cron_id, created_at DESC, fire_id DESC)`);
    await queryRunner.query(
      `CREATE INDEX cron_fires_open ON cron_fires (cron_id) WHERE status IN ('pending', 'started')`,
    );
    await queryRunner.query(`CREATE INDEX cron_fires_pending ON cron_fires (created_at) WHERE status = 'pending'`);
    await queryRunner.query(`CREATE INDEX cron_fires_created ON cron_fires (created_at)`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE cron_fires`);
    await queryRunner.query(`DROP TABLE crons`);
  }
}
