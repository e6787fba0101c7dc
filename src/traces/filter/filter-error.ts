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
