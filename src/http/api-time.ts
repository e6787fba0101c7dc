/** A point of time as the API writes it: ISO 8601 with microseconds and an explicit offset. */
export function toApiTime(date: Date): string {
  return date.toISOString().replace(/(\.\d{3})Z$/, '$1000+00:00');
}
