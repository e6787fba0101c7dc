import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useMemo, useRef, useState } from 'react';
import { Icon } from '../../ui/icons';
import { short } from '../../ui/numbers';
import { duration } from '../../ui/time';
import { type Row, type SpanTree, visibleRows } from './span-tree';

const ROW_HEIGHT = 30;
const INDENT_PX = 14;
const TONES: Record<string, string> = {
  llm: 'bg-accent-fill',
  tool: 'bg-wait',
  retriever: 'bg-good',
  chain: 'bg-busy',
};
const isFailed = ({ span }: Row): boolean => span.status.toLowerCase() === 'error';

interface Props {
  tree: SpanTree;
  chosen: string;
  onChoose: (id: string) => void;
}

/** The runs of a trace as a tree beside their times. Only the rows in sight are rendered. */
export function SpanList({ tree, chosen, onChoose }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => visibleRows(tree.rows, closed), [tree, closed]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 20,
  });
  const toggle = (id: string, shouldClose = !closed.has(id)): void => {
    const next = new Set(closed);
    if (shouldClose) next.add(id);
    else next.delete(id);
    setClosed(next);
  };
  const press = (event: KeyboardEvent): void => {
    const at = rows.findIndex(({ span }) => span.id === chosen);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      const to = Math.min(Math.max(at + step, 0), rows.length - 1);
      onChoose(rows[to].span.id);
      virtual.scrollToIndex(to);
    } else if (event.key === 'ArrowLeft') toggle(chosen, true);
    else if (event.key === 'ArrowRight') toggle(chosen, false);
    else return;
    event.preventDefault();
  };
  return (
    <div
      ref={place}
      role="tree"
      aria-label="Runs of the trace"
      tabIndex={0}
      aria-activedescendant={`span-${chosen}`}
      onKeyDown={press}
      className="h-full overflow-auto"
    >
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          const { span, depth, isParent, startMs, lengthMs } = row;
          const isChosen = span.id === chosen;
          return (
            <div
              key={span.id}
              id={`span-${span.id}`}
              role="treeitem"
              aria-level={depth + 1}
              aria-selected={isChosen}
              aria-expanded={isParent ? !closed.has(span.id) : undefined}
              className={`absolute inset-x-0 grid cursor-default grid-cols-[1fr_35%] items-center gap-3 pr-3 ${isChosen ? 'bg-accent-soft' : 'hover:bg-hover'}`}
              style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
              onClick={() => onChoose(span.id)}
            >
              <div className="flex min-w-0 items-center gap-1.5" style={{ paddingLeft: 8 + depth * INDENT_PX }}>
                <button
                  type="button"
                  tabIndex={-1}
                  aria-label={closed.has(span.id) ? 'Open' : 'Close'}
                  className={`size-4 shrink-0 text-muted ${isParent ? '' : 'invisible'}`}
                  onClick={(event) => {
                    event.stopPropagation();
                    toggle(span.id);
                  }}
                >
                  <Icon name={closed.has(span.id) ? 'right' : 'down'} size={11} />
                </button>
                <span
                  className={`size-2 shrink-0 rounded-xs ${TONES[span.run_type.toLowerCase()] ?? 'bg-muted'}`}
                  title={span.run_type.toLowerCase()}
                />
                <span className={`truncate ${isFailed(row) ? 'text-bad' : ''}`}>{span.name}</span>
                {span.total_tokens > 0 && (
                  <span className="ml-auto shrink-0 text-2xs text-muted tabular-nums">{`${short(span.total_tokens)} tok`}</span>
                )}
              </div>
              <div className="flex items-center gap-2">
                <div className="relative h-2 min-w-0 flex-1">
                  <div
                    className={`absolute h-2 min-w-px rounded-xs ${isFailed(row) ? 'bg-bad' : (TONES[span.run_type.toLowerCase()] ?? 'bg-muted')}`}
                    style={{
                      left: `${(startMs / tree.totalMs) * 100}%`,
                      width: `${Math.max((lengthMs / tree.totalMs) * 100, 0.4)}%`,
                    }}
                  />
                </div>
                <span className="w-14 shrink-0 text-right text-2xs text-muted tabular-nums">{duration(lengthMs)}</span>
              </div>
            </div>
          );
        })}
      </div>
    </div>
  );
}
