import { MigrationInterface, QueryRunner } from 'typeorm';
import { auditTable } from '../audit-trigger';

/**
 * Public links to traces and threads, and links that leave one remark on one run. The token in a link is found by its
 * SHA-256; the token itself is sealed, so that its owner can be shown the link again.
 */
export class TraceLinks1700006030000 implements MigrationInterface {
  name = 'TraceLinks1700006030000';

  async up(queryRunner: QueryRunner): Promise<void> {
    // run_id is the root of the shared trace.
    await queryRunner.query(`
      CREATE TABLE trace_shares (
        tenant_id uuid NOT NULL REFERENCES tenants,
        share_id uuid NOT NULL,
        project_id uuid NOT NULL,
        run_id uuid,
        thread_id text,
        token_hash bytea NOT NULL UNIQUE,
        sealed_token text NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, share_id),
        CHECK ((run_id IS NULL) <> (thread_id IS NULL))
      )`);
    await queryRunner.query(
      'CREATE UNIQUE INDEX trace_shares_run ON trace_shares (tenant_id, run_id) WHERE run_id IS NOT NULL',
    );
    await queryRunner.query(
      `CREATE UNIQUE INDEX trace_shares_thread ON trace_shares (tenant_id, project_id, thread_id)
         WHERE thread_id IS NOT NULL`,
    );
    await auditTable(queryRunner, {
      table: 'trace_shares',
      resource: 'trace_share',
      idColumn: 'share_id',
      create: 'true',
      delete: 'true',
    });

    await queryRunner.query(`
      CREATE TABLE trace_feedback_links (
        tenant_id uuid NOT NULL REFERENCES tenants,
        link_id uuid NOT NULL,
        run_id uuid NOT NULL,
        key text NOT NULL,
        feedback_id uuid NOT NULL,
        feedback_config json,
        token_hash bytea NOT NULL UNIQUE,
        sealed_token text NOT NULL,
        expires_at timestamptz NOT NULL,
        created_at timestamptz NOT NULL DEFAULT now(),
        PRIMARY KEY (tenant_id, link_id)
      )`);
    await queryRunner.query(
      'CREATE INDEX trace_feedback_links_run ON trace_feedback_links (tenant_id, run_id, created_at)',
    );
    await queryRunner.query('CREATE INDEX trace_feedback_links_expiry ON trace_feedback_links (expires_at)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP TABLE trace_feedback_links, trace_shares');
    await queryRunner.query('DROP FUNCTION audit_trace_shares()');
  }
}
