import { Column, type ColumnOptions } from 'typeorm';
import { storedJson, storedText } from './at-rest';

/**
 * A jsonb column that is encrypted where langgraph.json names an encryption. It is declared as text, since TypeORM would make a text
 * of the parameter before it could be encrypted; what is read the driver has parsed.
 */
export function StoredJson(model: string, field: string, options: ColumnOptions = {}): PropertyDecorator {
  const to = (value: unknown): unknown => storedJson(model, field, value == null ? null : JSON.stringify(value));
  return Column({ ...options, type: 'text', transformer: { to, from: (value: unknown) => value } });
}

/** A text column that is encrypted as a whole where langgraph.json names an encryption. */
export function StoredText(model: string, field: string, options: ColumnOptions = {}): PropertyDecorator {
  const to = (value: unknown): unknown => storedText(model, field, value as string | null);
  return Column({ ...options, type: 'text', transformer: { to, from: (value: unknown) => value } });
}
