import { MigrationInterface, QueryRunner } from 'typeorm';

/** Webhook deliveries and the log of their attempts. */
export class Webhooks1700000300000 implements MigrationInterface {
  name = 'Webhooks1700000300000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // run_id and replay_of are no foreign keys: the log outlives a deleted run and its own older half.
    // payload is text and not jsonb: every attempt and replay sends the same bytes.
    await queryRunner.query(`
      CREATE TABLE webhook_deliveries (
        delivery_id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenants,
        webhook_id text NOT NULL,
        kind text NOT NULL CHECK (kind IN ('run', 'test')),
        run_id uuid,
        thread_id uuid,
        replay_of uuid,
        masked_url text NOT NULL,
        sealed_url text NOT NULL,
        host text NOT NULL,
        payload text NOT NULL,
        payload_bytes integer NOT NULL,
        payload_sha256 text NOT NULL,
        status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'delivered', 'failed', 'cancelled')),
        max_attempts integer NOT NULL,
        attempt_count integer NOT NULL DEFAULT 0,
        last_outcome text,
        last_response_code integer,
        last_error text,
        next_attempt_at timestamptz,
        created_at timestamptz NOT NULL DEFAULT now(),
        finished_at timestamptz,
        check_after timestamptz NOT NULL
      )`);
    await queryRunner.query(
      `CREATE INDEX webhook_deliveries_created ON webhook_deliveries (tenant_id, created_at DESC, delivery_id DESC)`,
    );
    await queryRunner.query(`CREATE INDEX webhook_deliveries_run ON webhook_deliveries (run_id)`);
    await queryRunner.query(`CREATE INDEX webhook_deliveries_thread ON webhook_deliveries (thread_id)`);
    await queryRunner.query(
      `CREATE INDEX webhook_deliveries_host ON webhook_deliveries (tenant_id, host, created_at DESC)`,
    );
    // The sweep's and the retention's only questions; each index is empty when there is nothing to do.
    await queryRunner.query(
      `CREATE INDEX webhook_deliveries_check ON webhook_deliveries (check_after) WHERE status = 'pending'`,
    );
    await queryRunner.query(
      `CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL`,
    );

    // An attempt without an outcome is in flight, or its worker is dead and the next one will say so.
    await queryRunner.query(`
      CREATE TABLE webhook_attempts (
        attempt_id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL,
        delivery_id uuid NOT NULL REFERENCES webhook_deliveries ON DELETE CASCADE,
        attempt integer NOT NULL,
        planned_at timestamptz NOT NULL,
        started_at timestamptz NOT NULL,
        duration_ms integer,
        outcome text,
        response_code integer,
        response_excerpt text,
        error text,
        request_headers jsonb NOT NULL,
        signed_with text[] NOT NULL,
        next_attempt_at timestamptz
      )`);
    await queryRunner.query(
      `CREATE INDEX webhook_attempts_delivery ON webhook_attempts (delivery_id, attempt, started_at)`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP TABLE webhook_attempts`);
    await queryRunner.query(`DROP TABLE webhook_deliveries`);
  }
}
