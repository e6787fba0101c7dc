/** What is wrong with a filter, and where: `position` counts characters from 0. */
export class FilterError extends Error {
  constructor(
    readonly reason: string,
    readonly position: number,
  ) {
    super(`${reason} (at position ${position})`);
    this.name = 'FilterError';
  }
}
