/** Fields of a state that are known without any of its values. */
const WITHOUT_VALUES = [
  ...['checkpoint', 'checkpoint_id', 'parent_checkpoint', 'parent_checkpoint_id', 'metadata', 'created_at'],
];
const VALUE = 'values.';

/** The keys of the values that a selection names; undefined when it takes all values to answer it. */
export function selectedValues(select: string[] | undefined): string[] | undefined {
  if (!select?.every((field) => field.startsWith(VALUE) || WITHOUT_VALUES.includes(field))) return undefined;
  return keysOf(select);
}

/** A state with only the fields of a selection, or all if there is none. */
export function selectFields(state: Record<string, unknown>, select: string[] | undefined): Record<string, unknown> {
  if (!select) return state;
  const fields = Object.entries(state).filter(([field]) => select.includes(field));
  const keys = keysOf(select);
  if (select.includes('values') || keys.length === 0) return Object.fromEntries(fields);
  const values = Object.entries((state.values ?? {}) as object).filter(([key]) => keys.includes(key));
  return { values: Object.fromEntries(values), ...Object.fromEntries(fields) };
}

function keysOf(select: string[]): string[] {
  return select.filter((field) => field.startsWith(VALUE)).map((field) => field.slice(VALUE.length));
}
