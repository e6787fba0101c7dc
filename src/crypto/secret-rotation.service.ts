import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { SecretBox } from './secret-box';
import { SEALED_VALUE } from './secret-values';
import {
  documentContext,
  SEALED_DOCUMENTS,
  SEALED_FIELDS,
  type SealedDocument,
  type SealedField,
  type SealingContext,
} from './sealed-fields';

/** A character of a sealed value. Not `\w`, which in Postgres includes the letters of other alphabets. */
const CHARACTER = '[A-Za-z0-9_-]';
/** A sealed value (secret-box.ts): a text of a caller that only begins like one is none. */
const SEALED = `v1\\.${CHARACTER}{8}\\.${CHARACTER}{16}\\.${CHARACTER}{22}\\.${CHARACTER}*`;
const BATCH = 200;
/** Rounds over the documents after which another process must be one that still seals with an earlier key. */
const MAX_ROUNDS = 20;
const NIL = '00000000-0000-0000-0000-000000000000';

export interface RotatedColumn {
  table: string;
  column: string;
  /** Number of values that were sealed with the current key. */
  rotated: number;
  /** Values under a key that isn't configured any more: they stay as they are. */
  unreadable: number;
}

/** One round over the documents of a column. */
interface Round {
  /** Number of documents with values that are to be sealed with the current key. */
  found: number;
  /** Number of those that have been. */
  rotated: number;
  unreadable: number;
}

/** Seals stored secrets again, under the current key, so that an earlier one can be thrown away. */
@Injectable()
export class SecretRotationService {
  constructor(
    private readonly secrets: SecretBox,
    @InjectDataSource() private readonly database: DataSource,
  ) {}

  /**
   * Safe beside running processes, and to repeat: a value that changes meanwhile is left to its writer.
   * @throws {Error} if another process still seals with an earlier key
   */
  async rotate(
    fields: readonly SealedField[] = Object.values(SEALED_FIELDS),
    documents: readonly SealedDocument[] = SEALED_DOCUMENTS,
  ): Promise<RotatedColumn[]> {
    const done: RotatedColumn[] = [];
    for (const field of fields) done.push(await this.rotateField(field));
    return [...done, ...(await this.rotateDocuments(documents))];
  }

  /**
   * Counts documents, of which each may hold several values. A writer that changes something else in a document keeps
   * its values as they are sealed, and others copy them into rows that a round has passed already: rounds are repeated
   * until one finds nothing to seal.
   */
  private async rotateDocuments(documents: readonly SealedDocument[]): Promise<RotatedColumn[]> {
    const columns = documents.map(({ table, column }) => ({ table, column, rotated: 0, unreadable: 0 }));
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      let found = 0;
      for (const [index, document] of documents.entries()) {
        const counts = await this.rotateDocument(document);
        columns[index].rotated += counts.rotated;
        columns[index].unreadable = counts.unreadable;
        found += counts.found;
      }
      if (found === 0) return columns;
    }
    throw new Error(
      'Secrets are still being sealed with an earlier key: make the new key the first one in GANTRY_SEALING_KEYS of ' +
        'all processes, restart them, and repeat this',
    );
  }

  private async rotateDocument({ table, column, keyColumns }: SealedDocument): Promise<Round> {
    const counts: Round = { found: 0, rotated: 0, unreadable: 0 };
    const earlier = `"${SEALED_VALUE}(?!${this.secrets.currentPrefix.replaceAll('.', '\\.')})${SEALED}"`;
    const key = keyColumns.join(', ');
    let after: string[] | undefined;
    for (;;) {
      const parameters = keyColumns.map((_, index) => `$${index + 2}`).join(', ');
      const rows = await this.database.query<{ tenantId: string; key: string[]; document: string }[]>(
        `SELECT tenant_id AS "tenantId", ARRAY[${keyColumns.map((each) => `${each}::text`).join(', ')}] AS key,
           ${column}::text AS document
         FROM ${table} WHERE ${column}::text ~ $1 ${after ? `AND (${key}) > (${parameters})` : ''}
         ORDER BY ${key} LIMIT ${BATCH}`,
        [earlier, ...(after ?? [])],
      );
      for (const row of rows) {
        const { resealed, isReadable } = this.resealAll(row.document, documentContext(row.tenantId));
        if (!isReadable) counts.unreadable += 1;
        if (resealed === row.document) continue;
        counts.found += 1;
        const where = keyColumns.map((each, index) => `${each}::text = $${index + 3}`).join(' AND ');
        const [updated] = await this.database.query<[unknown[], number]>(
          `UPDATE ${table} SET ${column} = $1::jsonb WHERE ${column} = $2::jsonb AND ${where} RETURNING 1`,
          [resealed, row.document, ...row.key],
        );
        if (isReadable) counts.rotated += updated.length;
      }
      const last = rows.at(-1);
      if (!last) return counts;
      after = last.key;
    }
  }

  /** A document with its values sealed with the current key; those that can't be opened stay as they are. */
  private resealAll(document: string, context: SealingContext): { resealed: string; isReadable: boolean } {
    let isReadable = true;
    const resealed = document.replace(new RegExp(`"${SEALED_VALUE}(${SEALED})"`, 'g'), (whole, sealed: string) => {
      if (sealed.startsWith(this.secrets.currentPrefix)) return whole;
      const again = this.reseal(sealed, context);
      if (again === undefined) isReadable = false;
      return again === undefined ? whole : `"${SEALED_VALUE}${again}"`;
    });
    return { resealed, isReadable };
  }

  private async rotateField({ table, column, field, keyColumns, context }: SealedField): Promise<RotatedColumn> {
    const counts = { table, column: field === undefined ? column : `${column}.${field}`, rotated: 0, unreadable: 0 };
    const value = field === undefined ? column : `${column} ->> '${field}'`;
    const changed = field === undefined ? '$1' : `jsonb_set(${column}, '{${field}}', to_jsonb($1::text))`;
    const key = keyColumns.join(', ');
    const parameters = (from: number): string => keyColumns.map((_, index) => `$${from + index}`).join(', ');
    let after: string[] = keyColumns.map((_, index) => (index === 0 ? NIL : ''));
    for (;;) {
      const rows = await this.database.query<{ key: string[]; tenantId: string; sealed: string }[]>(
        `SELECT ARRAY[${keyColumns.map((each) => `${each}::text`).join(', ')}] AS key, tenant_id AS "tenantId", ${value} AS sealed
         FROM ${table}
         WHERE ${value} IS NOT NULL AND NOT starts_with(${value}, $1) AND (${key}) > (${parameters(2)})
         ORDER BY ${key} LIMIT ${BATCH}`,
        [this.secrets.currentPrefix, ...after],
      );
      for (const row of rows) {
        const resealed = this.reseal(row.sealed, context(row.tenantId, ...row.key));
        if (resealed === undefined) counts.unreadable += 1;
        else {
          const [updated] = await this.database.query<[unknown[], number]>(
            `UPDATE ${table} SET ${column} = ${changed}
             WHERE ${value} = $2 AND tenant_id = $3 AND (${key}) = (${parameters(4)}) RETURNING 1`,
            [resealed, row.sealed, row.tenantId, ...row.key],
          );
          counts.rotated += updated.length;
        }
      }
      const last = rows.at(-1);
      if (!last) return counts;
      after = last.key;
    }
  }

  private reseal(sealed: string, context: SealingContext): string | undefined {
    let plaintext: string;
    try {
      plaintext = this.secrets.open(sealed, context);
    } catch {
      // Counted and reported: the operator decides whether the old key can still be had.
      return undefined;
    }
    return this.secrets.seal(plaintext, context);
  }
}
