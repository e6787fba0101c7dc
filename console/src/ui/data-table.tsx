import { createColumnHelper, tableFeatures, useTable, type ColumnDef } from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, type ReactNode, useEffect, useMemo, useRef } from 'react';

const ROW_HEIGHT = 40;
/** Number of rows below the visible ones at which the next page is requested. */
const ROWS_AHEAD = 30;

/** Columns of a row: those of a phone on narrow pages. */
const GRID = '[--grid:var(--narrow)] md:[--grid:var(--wide)]';

interface ColumnMeta {
  /** Width in CSS grid syntax, such as `minmax(8rem, 1fr)`. */
  width: string;
  /** Hides the column on pages as narrow as a phone. */
  wideOnly?: boolean;
}

const features = tableFeatures({ columnMeta: {} as ColumnMeta });
type Features = typeof features;

export type Columns<Row extends object> = ColumnDef<Features, Row>[];
export const columnsOf = <Row extends object>() => createColumnHelper<Features, Row>();

interface Props<Row extends object> {
  /** Label of the list for screen readers. */
  label: string;
  rows: Row[];
  columns: Columns<Row>;
  rowId: (row: Row) => string;
  /** Address of a row's own page; the cell in the first column links to it. */
  linkOf?: (row: Row) => string;
  /** Called near the end of the list, if there may be more rows. */
  onEnd?: () => void;
  empty: ReactNode;
  /** Total number of rows, if known. */
  total?: number;
}

/** A list of any length. Only the rows in sight are rendered. Arrow keys move between rows. */
export function DataTable<Row extends object>({
  label,
  rows,
  columns,
  rowId,
  linkOf,
  onEnd,
  empty,
  total,
}: Props<Row>) {
  const place = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => place.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const shown = virtual.getVirtualItems();
  const first = shown.at(0)?.index ?? 0;
  const last = shown.at(-1)?.index ?? -1;
  // The table models every row that it is given each time the list grows: of a long list, only those that are rendered.
  const data = useMemo(() => rows.slice(first, last + 1), [rows, first, last]);
  const table = useTable({ features, columns, data, getRowId: rowId });
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - ROWS_AHEAD) onEnd?.();
  }, [last, rows.length, onEnd]);

  const metas = columns.map((column) => column.meta!);
  const grid = (isWide: boolean): string =>
    metas
      .filter((meta) => isWide || !meta.wideOnly)
      .map(({ width }) => width)
      .join(' ');
  const cellClass = (index: number): string => (metas[index].wideOnly ? 'hidden md:block' : '');

  const move = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const from = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')?.dataset.index;
    if (step === undefined || from === undefined) return;
    event.preventDefault();
    const to = Math.min(Math.max(Number(from) + step, 0), rows.length - 1);
    virtual.scrollToIndex(to);
    requestAnimationFrame(() => place.current?.querySelector<HTMLElement>(`[data-index="${to}"] a`)?.focus());
  };

  const core = table.getRowModel().rows;
  const widths = { '--wide': grid(true), '--narrow': grid(false) } as never;
  const head = (
    <div role="rowgroup" className="sticky top-0 z-10 bg-page">
      {table.getHeaderGroups().map((group) => (
        <div
          key={group.id}
          role="row"
          className="grid h-8 grid-cols-(--grid) items-center gap-3 border-b border-line px-4 sm:px-6"
        >
          {group.headers.map((header, index) => (
            <div key={header.id} role="columnheader" className={`caps truncate ${cellClass(index)}`}>
              <table.FlexRender header={header} />
            </div>
          ))}
        </div>
      ))}
    </div>
  );
  if (rows.length === 0) {
    return (
      <div className="min-h-0 flex-1 overflow-auto">
        <div role="table" aria-label={label} aria-rowcount={1} className={GRID} style={widths}>
          {head}
        </div>
        {empty}
      </div>
    );
  }
  return (
    <div
      ref={place}
      role="table"
      aria-label={label}
      aria-rowcount={(total ?? rows.length) + 1}
      tabIndex={0}
      className={`min-h-0 flex-1 overflow-auto ${GRID}`}
      style={widths}
      onKeyDown={move}
    >
      {head}
      <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
        {shown.map(({ index, start }) => {
          const row = core[index - first];
          const link = linkOf?.(row.original);
          return (
            <div
              key={row.id}
              role="row"
              aria-rowindex={index + 2}
              data-index={index}
              className={`absolute inset-x-0 grid grid-cols-(--grid) items-center gap-3 border-b border-line px-4 sm:px-6 ${link ? 'hover:bg-hover focus-within:bg-hover' : ''}`}
              style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
            >
              {row.getAllCells().map((cell, at) => {
                const content = <table.FlexRender cell={cell} />;
                return (
                  <div key={cell.id} role="cell" className={`min-w-0 truncate ${cellClass(at)}`}>
                    {link && at === 0 ? (
                      // The cell's link covers the whole row.
                      <Link to={link} className="after:absolute after:inset-0 focus-visible:outline-none">
                        {content}
                      </Link>
                    ) : (
                      content
                    )}
                  </div>
                );
              })}
            </div>
          );
        })}
      </div>
    </div>
  );
}
