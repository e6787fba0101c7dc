import type { FilterLiteral } from './filter-ast';

/** A value of a filter as an error shows it. */
export function describeLiteral(value: FilterLiteral): string {
  return typeof value === 'bigint' ? String(value) : JSON.stringify(value);
}

/** An error in a filter, with its place: `position` counts characters from 0. */
export class FilterError extends Error {
  constructor(
    readonly reason: string,
    readonly position: number,
  ) {
    super(`${reason} (at position ${position})`);
    this.name = 'FilterError';
  }
}
