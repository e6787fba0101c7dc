import { MigrationInterface, QueryRunner } from 'typeorm';

/** Traces: projects, runs by UTC day, their feedback and their attachments. */
export class Traces1700000100000 implements MigrationInterface {
  name = 'Traces1700000100000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`
      CREATE TABLE trace_projects (
        tenant_id uuid NOT NULL REFERENCES tenants,
        project_id uuid NOT NULL,
        name text NOT NULL,
        description text,
        extra jsonb,
        start_time timestamptz NOT NULL DEFAULT now(),
        end_time timestamptz,
        default_dataset_id uuid,
        reference_dataset_id uuid,
        trace_tier text,
        created_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, project_id),
        UNIQUE (tenant_id, name)
      )`);

    // inputs, outputs, extra, events and serialized are the client's own JSON text: exact (jsonb drops duplicate keys and
    // refuses \\u0000), cheap to take in and cheap to export. metadata is extra.metadata again as jsonb, for filters.
    // The primary key is the order in which exports read: (start_time, run_id) within a project.
    // No default partition: rows that landed there would forbid the day's own partition later.
    await queryRunner.query(`
      CREATE TABLE trace_runs (
        tenant_id uuid NOT NULL,
        project_id uuid NOT NULL,
        start_time timestamptz NOT NULL,
        run_id uuid NOT NULL,
        trace_id uuid NOT NULL,
        parent_run_id uuid,
        parent_run_ids uuid[] NOT NULL DEFAULT '{}',
        dotted_order text COLLATE "C" NOT NULL,
        name text NOT NULL,
        run_type text NOT NULL,
        status text NOT NULL CHECK (status IN ('pending', 'success', 'error')),
        end_time timestamptz,
        first_token_time timestamptz,
        error text,
        inputs text,
        outputs text,
        extra text,
        events text,
        serialized text,
        metadata jsonb,
        tags text[],
        thread_id text,
        reference_example_id uuid,
        prompt_tokens bigint,
        completion_tokens bigint,
        total_tokens bigint,
        prompt_cost numeric,
        completion_cost numeric,
        total_cost numeric,
        usage_details jsonb,
        feedback_stats jsonb,
        trace_tier text,
        merge_ranks text,
        received_at timestamptz NOT NULL DEFAULT now(),
        updated_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, project_id, start_time, run_id)
      ) PARTITION BY RANGE (start_time)`);
    // lz4 takes a fraction of pglz's time for the same size, where the server was built with it (the embedded one is not).
    await queryRunner.query(`
      DO $$
      DECLARE large text;
      BEGIN
        IF EXISTS (SELECT FROM pg_settings WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)) THEN
          FOREACH large IN ARRAY ARRAY['error', 'inputs', 'outputs', 'extra', 'events', 'serialized', 'metadata'] LOOP
            EXECUTE format('ALTER TABLE trace_runs ALTER COLUMN %I SET COMPRESSION lz4', large);
          END LOOP;
        END IF;
      END $$`);
    await queryRunner.query(`CREATE INDEX trace_runs_trace ON trace_runs (tenant_id, trace_id)`);
    await queryRunner.query(`
      CREATE INDEX trace_runs_roots ON trace_runs (tenant_id, project_id, start_time, run_id)
        WHERE parent_run_id IS NULL`);
    await queryRunner.query(`
      CREATE INDEX trace_runs_errors ON trace_runs (tenant_id, project_id, start_time, run_id)
        WHERE status = 'error'`);
    await queryRunner.query(`
      CREATE INDEX trace_runs_thread ON trace_runs (tenant_id, project_id, thread_id, start_time)
        WHERE thread_id IS NOT NULL`);

    // Where a run is, since a run's id alone names no partition. The row is also what serialises writers of one run, and
    // holds what came (JSON) before anything said when and where the run began: start_time is null until then.
    await queryRunner.query(`
      CREATE TABLE trace_run_keys (
        tenant_id uuid NOT NULL,
        run_id uuid NOT NULL,
        project_id uuid,
        start_time timestamptz,
        held text,
        received_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, run_id)
      )`);
    await queryRunner.query(`CREATE INDEX trace_run_keys_start ON trace_run_keys USING brin (start_time)`);
    await queryRunner.query(
      `CREATE INDEX trace_run_keys_held ON trace_run_keys (received_at) WHERE start_time IS NULL`,
    );

    await queryRunner.query(`
      CREATE TABLE trace_feedback (
        tenant_id uuid NOT NULL REFERENCES tenants,
        feedback_id uuid NOT NULL,
        run_id uuid,
        trace_id uuid,
        project_id uuid,
        key text NOT NULL,
        score double precision,
        value json,
        comment text,
        correction json,
        feedback_source json,
        feedback_config json,
        feedback_group_id uuid,
        comparative_experiment_id uuid,
        extra json,
        error boolean NOT NULL DEFAULT false,
        created_at timestamptz NOT NULL DEFAULT now(),
        modified_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, feedback_id)
      )`);
    await queryRunner.query(`CREATE INDEX trace_feedback_run ON trace_feedback (tenant_id, run_id)`);
    await queryRunner.query(
      `CREATE INDEX trace_feedback_project ON trace_feedback (tenant_id, project_id, created_at)`,
    );

    await queryRunner.query(`
      CREATE TABLE trace_attachments (
        tenant_id uuid NOT NULL REFERENCES tenants,
        run_id uuid NOT NULL,
        name text NOT NULL,
        mime_type text NOT NULL,
        data bytea NOT NULL,
        received_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, run_id, name)
      )`);
    await queryRunner.query(`ALTER TABLE trace_attachments ALTER COLUMN data SET STORAGE EXTERNAL`);

    // Every value in a document with its dotted path, arrays being transparent: {"messages":[{"content":"hi"}]} has
    // (messages, [{"content": "hi"}]) and (messages.content, hi). Text that is no jsonb (lone surrogates) has no pairs.
    await queryRunner.query(`
      CREATE FUNCTION trace_pairs(document text) RETURNS TABLE (key text, value text)
      LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
        WITH RECURSIVE safe AS (
          SELECT replace(document, '\\u0000', '\\ufffd') AS text
        ), nodes AS (
          SELECT NULL::text AS key, safe.text::jsonb AS node FROM safe WHERE pg_input_is_valid(safe.text, 'jsonb')
          UNION ALL
          SELECT child.key, child.node
          FROM nodes, LATERAL (
            SELECT concat_ws('.', nodes.key, member.key) AS key, member.value AS node
            FROM jsonb_each(CASE jsonb_typeof(nodes.node) WHEN 'object' THEN nodes.node ELSE '{}' END) AS member
            UNION ALL
            SELECT nodes.key, element
            FROM jsonb_array_elements(CASE jsonb_typeof(nodes.node) WHEN 'array' THEN nodes.node ELSE '[]' END) AS element
          ) AS child
        )
        SELECT nodes.key, nodes.node #>> '{}' FROM nodes WHERE nodes.key IS NOT NULL
      $$`);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query(`DROP FUNCTION trace_pairs`);
    for (const table of ['trace_attachments', 'trace_feedback', 'trace_run_keys', 'trace_runs', 'trace_projects']) {
      await queryRunner.query(`DROP TABLE ${table}`);
    }
  }
}
