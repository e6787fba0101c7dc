import { escapeLiteral } from 'pg';
import { SqlParams } from '../../traces/filter/sql-params';

/** Values as escaped literals, for statements that take no parameters (COPY). */
export class SqlLiterals extends SqlParams {
  override add(value: unknown, type: string): string {
    return `${literal(value)}::${type}`;
  }
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(', ')}]`;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') {
    return escapeLiteral(String(value));
  }
  throw new TypeError('Only text, numbers and booleans can be written as literals');
}
