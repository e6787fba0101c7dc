export interface Change {
  path: string;
  before: unknown;
  after: unknown;
}

const isContainer = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Differences between two values, leaf by leaf; a branch that only one of them has is one difference. */
export function changesBetween(before: unknown, after: unknown, path = ''): Change[] {
  if (Object.is(before, after)) return [];
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after)) {
    return [{ path, before, after }];
  }
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => changesBetween(before[key], after[key], path ? `${path}.${key}` : key));
}

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** The difference of two states, as added and removed values by path. */
export function JsonDiff({ before, after }: { before: unknown; after: unknown }) {
  const changes = changesBetween(before, after);
  if (changes.length === 0) return <p className="text-muted">No difference.</p>;
  return (
    <ul className="space-y-2">
      {changes.map(({ path, before: was, after: is }) => (
        <li key={path} className="overflow-hidden rounded-md border border-line font-mono text-xs">
          <p className="border-b border-line bg-sunken px-2 py-1 text-soft">{path || '(all)'}</p>
          {was !== undefined && (
            <pre className="bg-bad-soft px-2 py-1 break-words whitespace-pre-wrap text-bad">− {shown(was)}</pre>
          )}
          {is !== undefined && (
            <pre className="bg-good-soft px-2 py-1 break-words whitespace-pre-wrap text-good">+ {shown(is)}</pre>
          )}
        </li>
      ))}
    </ul>
  );
}
