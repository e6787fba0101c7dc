import { memo, useState } from 'react';
import { CopyButton } from './copy-button';
import { Icon } from './icons';

/** Length from which texts and lists are shown in part until they are opened. */
const TEXT_LIMIT = 400;
const ITEMS_SHOWN = 100;

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

function Scalar({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false);
  if (typeof value === 'string') {
    const isLong = value.length > TEXT_LIMIT && !isWhole;
    return (
      <span className="break-words whitespace-pre-wrap text-good">
        "{isLong ? value.slice(0, TEXT_LIMIT) : value}"
        {isLong && (
          <button type="button" className="ml-1 text-accent underline" onClick={() => setWhole(true)}>
            {value.length - TEXT_LIMIT} more characters
          </button>
        )}
      </span>
    );
  }
  if (value === null || value === undefined) return <span className="text-muted">{String(value)}</span>;
  return <span className={typeof value === 'number' ? 'text-busy' : 'text-wait'}>{JSON.stringify(value)}</span>;
}

function summaryOf(value: object): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[ ${value.length} ]`;
  const keys = Object.keys(value);
  if (keys.length === 0) return '{}';
  return `{ ${keys.slice(0, 4).join(', ')}${keys.length > 4 ? ', …' : ''} }`;
}

const Node = memo(function Node({
  name,
  value,
  depth,
  open,
}: {
  name?: string;
  value: unknown;
  depth: number;
  open: number;
}) {
  const [isOpen, setOpen] = useState(depth < open);
  const [shown, setShown] = useState(ITEMS_SHOWN);
  const label = name !== undefined && <span className="text-soft">{name}: </span>;
  if (!isContainer(value)) {
    return (
      <div className="pl-4">
        {label}
        <Scalar value={value} />
      </div>
    );
  }
  const entries = Object.entries(value as Record<string, unknown>);
  if (entries.length === 0) {
    return (
      <div className="pl-4">
        {label}
        <span className="text-muted">{summaryOf(value)}</span>
      </div>
    );
  }
  return (
    <div>
      <button
        type="button"
        aria-expanded={isOpen}
        aria-label={`${name ?? 'Value'} ${summaryOf(value)}`}
        onClick={() => setOpen(!isOpen)}
        className="flex w-full items-baseline rounded text-left hover:bg-hover"
      >
        <Icon name={isOpen ? 'down' : 'right'} size={10} className="mr-1.5 text-muted" />
        <span className="min-w-0 truncate">
          {label}
          <span className="text-muted">
            {isOpen ? (Array.isArray(value) ? `[ ${entries.length} ]` : '') : summaryOf(value)}
          </span>
        </span>
      </button>
      {isOpen && (
        <div className="ml-[5px] border-l border-line pl-2.5">
          {entries.slice(0, shown).map(([key, each]) => (
            <Node key={key} name={key} value={each} depth={depth + 1} open={open} />
          ))}
          {entries.length > shown && (
            <button
              type="button"
              className="pl-4 text-accent underline"
              onClick={() => setShown(shown + 10 * ITEMS_SHOWN)}
            >
              {entries.length - shown} more
            </button>
          )}
        </div>
      )}
    </div>
  );
});

/** Any value as a collapsible tree. `open` is the number of levels that are open at first. */
export function JsonView({ value, open = 2 }: { value: unknown; open?: number }) {
  return (
    <div className="group relative min-w-0 font-mono text-xs leading-5">
      <div className="absolute top-0 right-0 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
        <CopyButton text={JSON.stringify(value, null, 2)} label="Copy JSON" />
      </div>
      <Node value={value} depth={0} open={open} />
    </div>
  );
}
