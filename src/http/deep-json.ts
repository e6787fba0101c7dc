interface Frame {
  /** The rest of a list or an object that is still to be written, in order. */
  entries: Iterator<[name: string | number, value: unknown]>;
  isList: boolean;
  isEmpty: boolean;
}

/**
 * JSON.stringify for data from the database, however deep: a value that was stored before depth was limited, or that a graph
 * made, must not fail the whole answer. Nearly all values are written by JSON.stringify itself.
 */
export function stringifyDeep(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // The stack overflowed, after some 4,000 levels.
    if (!(error instanceof RangeError)) throw error;
    return withoutRecursion(value);
  }
}

/** @param root plain JSON: what the driver parsed */
function withoutRecursion(root: unknown): string {
  const pieces: string[] = [];
  const open: Frame[] = [];
  const write = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) {
      pieces.push(JSON.stringify(value) ?? 'null');
      return;
    }
    const isList = Array.isArray(value);
    pieces.push(isList ? '[' : '{');
    const entries = isList ? (value as unknown[]).entries() : Object.entries(value).values();
    open.push({ entries, isList, isEmpty: true });
  };
  write(root);
  for (let frame = open.at(-1); frame; frame = open.at(-1)) {
    const next = frame.entries.next();
    if (next.done) {
      pieces.push(frame.isList ? ']' : '}');
      open.pop();
      continue;
    }
    const [name, value] = next.value;
    if (value === undefined && !frame.isList) continue;
    pieces.push(frame.isEmpty ? '' : ',', frame.isList ? '' : `${JSON.stringify(name)}:`);
    frame.isEmpty = false;
    write(value);
  }
  return pieces.join('');
}
