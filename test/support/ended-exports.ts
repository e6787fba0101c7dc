import type { Gantry } from './gantry';

/**
 * Writes exports that have ended, each with one of the statuses, to a destination that no bucket belongs to.
 * @returns their ids
 */
export async function insertEndedExports({ sql }: Gantry, statuses: ('Failed' | 'TimedOut')[]): Promise<string[]> {
  const { rows } = await sql.query<{ export_id: string }>(
    `WITH d AS (
       INSERT INTO export_destinations (tenant_id, destination_id, destination_type, display_name, config, credentials_keys)
       SELECT tenant_id, gen_random_uuid(), 's3', 'Lake', '{"prefix": "", "bucket_name": "lake"}', '{}' FROM tenants
       RETURNING tenant_id, destination_id)
     INSERT INTO bulk_exports (tenant_id, export_id, destination_id, start_time, end_time, format_version, compression,
       status, finished_at, all_experiments)
     SELECT tenant_id, gen_random_uuid(), destination_id, '2026-01-01Z', '2026-01-02Z', 'v2_beta', 'none', status, now(), true
       FROM d, unnest($1::text[]) status RETURNING export_id`,
    [statuses],
  );
  return rows.map(({ export_id: id }) => id);
}
