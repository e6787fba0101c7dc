import type { Comparator } from './comparators';
import type { FilterField } from './filter-fields';

/** Integers that a number can't hold are of type bigint. */
export type FilterLiteral = string | number | bigint | boolean | null;

/** One condition on one field. `in` and `nin` have a list, every other comparator one literal. */
export interface Comparison {
  kind: 'comparison';
  comparator: Comparator;
  field: FilterField;
  values: FilterLiteral[];
  /** Index of the value in the filter's text, for errors. */
  position: number;
}

/** A filter, checked: every field is known and every comparator fits its field. */
export type FilterExpression =
  | { kind: 'and' | 'or'; operands: FilterExpression[] }
  | { kind: 'not'; operand: FilterExpression }
  | Comparison
  /** `search("text")`: in every text of the run. */
  | { kind: 'search'; text: string };
