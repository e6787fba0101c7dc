import { useMemo, useState } from 'react';
import { Button } from './button';
import { changesBetween } from './json-changes';

const CHANGES_SHOWN = 100;

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 2));

/** The difference of two states, as added and removed values by path. */
export function JsonDiff({ before, after }: { before: unknown; after: unknown }) {
  const [limit, setLimit] = useState(CHANGES_SHOWN);
  const changes = useMemo(() => changesBetween(before, after), [before, after]);
  if (changes.length === 0) return <p className="text-muted">No difference.</p>;
  return (
    <>
      <ul className="space-y-2">
        {changes.slice(0, limit).map(({ path, before: was, after: is }) => (
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
      {changes.length > limit && (
        <Button small className="mt-2" onClick={() => setLimit(limit + 10 * CHANGES_SHOWN)}>
          {changes.length - limit} more changes
        </Button>
      )}
    </>
  );
}
