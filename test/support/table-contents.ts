import type { Pool } from 'pg';

/** The tables that have one of these texts in a row, as text or as bytes. */
export async function tablesWith(sql: Pool, texts: string[]): Promise<string[]> {
  const { rows: tables } = await sql.query<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`,
  );
  const spellings = texts.flatMap((text) => [text, Buffer.from(text).toString('hex')]);
  const found: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql.query<{ row: string }>(`SELECT t::text AS row FROM ${name} t`);
    const content = rows.map(({ row }) => row).join('\n');
    if (spellings.some((each) => content.includes(each))) found.push(name);
  }
  return found;
}
