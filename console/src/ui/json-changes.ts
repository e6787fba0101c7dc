export interface Change {
  path: string;
  before: unknown;
  after: unknown;
}

type Branch = ReadonlyMap<string, unknown>;
const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Items of a list by their ids; undefined unless each has an id of its own. */
function byId(list: unknown): Branch | undefined {
  if (!Array.isArray(list)) return undefined;
  const items = new Map<string, unknown>();
  for (const item of list as unknown[]) {
    const id = isContainer(item) && 'id' in item ? item.id : undefined;
    if (typeof id !== 'string' || items.has(id)) return undefined;
    items.set(id, item);
  }
  return items;
}

const byKey = (value: object): Branch => new Map(Object.entries(value));

function changesWithin(before: Branch, after: Branch, path: string): Change[] {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].flatMap((key) => changesBetween(before.get(key), after.get(key), path ? `${path}.${key}` : key));
}

/** The ids that are in both lists, as one change if their order differs. */
function changeOfOrder(before: Branch, after: Branch, path: string): Change[] {
  const was = [...before.keys()].filter((id) => after.has(id));
  const is = [...after.keys()].filter((id) => before.has(id));
  return was.every((id, index) => id === is[index]) ? [] : [{ path: `${path} (order)`.trim(), before: was, after: is }];
}

/**
 * Differences between two values, leaf by leaf; a branch that only one of them has is one difference. Items of lists are
 * matched by their ids if all have one, so that the items after a removed one don't differ.
 */
export function changesBetween(before: unknown, after: unknown, path = ''): Change[] {
  if (Object.is(before, after)) return [];
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    return [{ path, before, after }];
  }
  const [was, is] = [byId(before), byId(after)];
  if (was && is) return [...changesWithin(was, is, path), ...changeOfOrder(was, is, path)];
  return changesWithin(byKey(before), byKey(after), path);
}
