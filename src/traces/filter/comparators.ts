/** How a condition of the filter language compares a field with its values. */
export const COMPARATORS = [
  'eq',
  'neq',
  'gt',
  'gte',
  'lt',
  'lte',
  'like',
  'nlike',
  'in',
  'nin',
  'has',
  'exists',
  'search',
] as const;
export type Comparator = (typeof COMPARATORS)[number];
