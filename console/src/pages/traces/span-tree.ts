import type { Span } from './traces-api';
import { utc } from './traces-api';

/** A span with its place in the tree, in the order in which the tree is read. */
export interface Row {
  span: Span;
  depth: number;
  /** Whether other spans are below it. */
  isParent: boolean;
  /** Milliseconds from the beginning of the trace. */
  startMs: number;
  /** Duration in milliseconds; until `nowMs` while the span is running. */
  lengthMs: number;
}

export interface SpanTree {
  rows: Row[];
  /** Milliseconds from the first start to the last end. */
  totalMs: number;
}

/**
 * Arranges spans as a tree. `dotted_order` sorts every span after its parent, and siblings by their start; spans whose
 * parent is missing are roots, as in a trace that is still being uploaded.
 */
export function treeOf(spans: Span[], nowMs: number): SpanTree {
  const ids = new Set(spans.map(({ id }) => id));
  const parents = new Set(spans.map(({ parent_run_id: parent }) => parent));
  const sorted = spans.toSorted((a, b) => (a.dotted_order < b.dotted_order ? -1 : 1));
  const origin = Math.min(...spans.map(({ start_time: start }) => utc(start).getTime()));
  const depths = new Map<string, number>();
  const rows = sorted.map((span): Row => {
    const parent = span.parent_run_id;
    const depth = parent !== null && ids.has(parent) ? (depths.get(parent) ?? 0) + 1 : 0;
    depths.set(span.id, depth);
    const startMs = utc(span.start_time).getTime() - origin;
    const endMs = (span.end_time === null ? nowMs : utc(span.end_time).getTime()) - origin;
    return { span, depth, isParent: parents.has(span.id), startMs, lengthMs: Math.max(endMs - startMs, 0) };
  });
  return { rows, totalMs: Math.max(1, ...rows.map(({ startMs, lengthMs }) => startMs + lengthMs)) };
}

/** The rows that remain visible when the spans under `closed` ones are hidden. */
export function visibleRows(rows: Row[], closed: ReadonlySet<string>): Row[] {
  let hiddenBelow: number | undefined;
  return rows.filter(({ span, depth }) => {
    if (hiddenBelow !== undefined && depth > hiddenBelow) return false;
    hiddenBelow = closed.has(span.id) ? depth : undefined;
    return true;
  });
}
