import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { SecretBox } from './secret-box';

const BATCH = 200;

/** A column of sealed values, and what each is bound to. */
export interface SealedColumn {
  table: string;
  column: string;
  idColumn: string;
  context: (tenantId: string, id: string) => string;
}

export interface RotatedColumn {
  table: string;
  column: string;
  /** Values that were sealed anew. */
  rotated: number;
  /** Values under a key that isn't configured any more: they stay as they are. */
  unreadable: number;
}

/** Seals stored secrets anew under the current key, so that an earlier one can be thrown away. */
@Injectable()
export class SecretRotationService {
  constructor(
    private readonly secrets: SecretBox,
    @InjectDataSource() private readonly database: DataSource,
  ) {}

  /** Safe beside running processes, and to repeat: a value that changes meanwhile is left to its writer. */
  async rotate(columns: SealedColumn[]): Promise<RotatedColumn[]> {
    const done: RotatedColumn[] = [];
    for (const column of columns) done.push(await this.rotateColumn(column));
    return done;
  }

  private async rotateColumn({ table, column, idColumn, context }: SealedColumn): Promise<RotatedColumn> {
    const counts = { table, column, rotated: 0, unreadable: 0 };
    let after = '00000000-0000-0000-0000-000000000000';
    for (;;) {
      const rows = await this.database.query<{ id: string; tenantId: string; sealed: string }[]>(
        `SELECT ${idColumn} AS id, tenant_id AS "tenantId", ${column} AS sealed FROM ${table}
         WHERE ${column} IS NOT NULL AND NOT starts_with(${column}, $1) AND ${idColumn} > $2
         ORDER BY ${idColumn} LIMIT ${BATCH}`,
        [this.secrets.currentPrefix, after],
      );
      for (const { id, tenantId, sealed } of rows) {
        const anew = this.reseal(sealed, context(tenantId, id));
        if (anew === undefined) counts.unreadable += 1;
        else {
          const [changed] = await this.database.query<[unknown[], number]>(
            `UPDATE ${table} SET ${column} = $4
             WHERE tenant_id = $1 AND ${idColumn} = $2 AND ${column} = $3 RETURNING 1`,
            [tenantId, id, sealed, anew],
          );
          counts.rotated += changed.length;
        }
      }
      const last = rows.at(-1);
      if (!last) return counts;
      after = last.id;
    }
  }

  private reseal(sealed: string, context: string): string | undefined {
    let plaintext: string;
    try {
      plaintext = this.secrets.open(sealed, context);
    } catch {
      // Counted, and told: whoever rotates decides whether the old key is still to be had.
      return undefined;
    }
    return this.secrets.seal(plaintext, context);
  }
}
