import { MigrationInterface, QueryRunner } from 'typeorm';

/** Agent-to-agent tasks: what runs and threads can't carry, and the receivers of their push notifications. */
export class A2a1700000900000 implements MigrationInterface {
  name = 'A2a1700000900000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // A task is a chain of runs on one thread: its first run gives it its id, run_id is the run of its latest turn. Whether
    // it is working, done or failed is that run's to say. Here is what no run says later on: that the graph waits for an
    // answer, and the answer it gave (a thread's values move on, and events expire). run_id is no foreign key: a run that
    // is rolled back goes, and its task stays as canceled.
    // artifacts and message are text and not jsonb, which can't hold U+0000.
    await queryRunner.query(`
      CREATE TABLE a2a_tasks (
        task_id uuid PRIMARY KEY,
        tenant_id uuid NOT NULL REFERENCES tenants,
        assistant_id uuid NOT NULL,
        thread_id uuid NOT NULL REFERENCES threads ON DELETE CASCADE,
        context_id text NOT NULL,
        run_id uuid NOT NULL,
        output_modes text[] NOT NULL,
        awaits_input boolean NOT NULL DEFAULT false,
        canceled_at timestamptz,
        artifacts text NOT NULL DEFAULT '[]',
        created_at timestamptz NOT NULL DEFAULT now()
      )`);
    await queryRunner.query(
      `CREATE INDEX a2a_tasks_assistant ON a2a_tasks (tenant_id, assistant_id, created_at DESC, task_id DESC)`,
    );
    await queryRunner.query(`CREATE INDEX a2a_tasks_thread ON a2a_tasks (thread_id)`);
    await queryRunner.query(`CREATE INDEX a2a_tasks_run ON a2a_tasks (run_id)`);

    await queryRunner.query(`
      CREATE TABLE a2a_messages (
        task_id uuid NOT NULL REFERENCES a2a_tasks ON DELETE CASCADE,
        seq bigint GENERATED ALWAYS AS IDENTITY,
        tenant_id uuid NOT NULL,
        message text NOT NULL,
        PRIMARY KEY (task_id, seq)
      )`);

    // sealed: the URL, the token and the credentials, under the deployment's key.
    await queryRunner.query(`
      CREATE TABLE a2a_push_configs (
        task_id uuid NOT NULL REFERENCES a2a_tasks ON DELETE CASCADE,
        config_id text NOT NULL,
        tenant_id uuid NOT NULL,
        protocol_version text NOT NULL,
        sealed text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
        PRIMARY KEY (task_id, config_id)
      )`);

    // Headers of one delivery alone: a push notification carries its receiver's own credentials.
    await queryRunner.query(`ALTER TABLE webhook_deliveries ADD COLUMN sealed_headers text`);
    await queryRunner.query(`ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_kind_check`);
    await queryRunner.query(
      `ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_kind_check CHECK (kind IN ('run', 'test', 'export', 'a2a'))`,
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DELETE FROM webhook_deliveries WHERE kind = 'a2a'`);
    await queryRunner.query(`ALTER TABLE webhook_deliveries DROP CONSTRAINT webhook_deliveries_kind_check`);
    await queryRunner.query(
      `ALTER TABLE webhook_deliveries ADD CONSTRAINT webhook_deliveries_kind_check CHECK (kind IN ('run', 'test', 'export'))`,
    );
    await queryRunner.query(`ALTER TABLE webhook_deliveries DROP COLUMN sealed_headers`);
    for (const table of ['a2a_push_configs', 'a2a_messages', 'a2a_tasks'])
      await queryRunner.query(`DROP TABLE ${table}`);
  }
}
