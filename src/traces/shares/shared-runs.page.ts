import type { TraceRunRow } from '../query/trace-runs.repository';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

const payload = (title: string, text: string | null | undefined): string =>
  text ? `<h4>${title}</h4><pre>${escape(text)}</pre>` : '';

function section(row: TraceRunRow, childrenOf: Map<string | null, TraceRunRow[]>): string {
  const children = (childrenOf.get(row.run_id) ?? []).map((child) => section(child, childrenOf)).join('');
  const summary = `<b>${escape(row.name)}</b> ${escape(row.run_type)}, ${row.status}, ${row.start_time}`;
  const payloads = payload('Input', row.inputs) + payload('Output', row.outputs) + payload('Error', row.error);
  return `<details open><summary>${summary}</summary><blockquote>${payloads}${children}</blockquote></details>`;
}

/**
 * The page of a public link: the tree of runs. Plain markup, because the content security policy of answers allows nothing
 * else.
 */
export function sharedRunsPage(rows: TraceRunRow[]): string {
  const known = new Set(rows.map((row) => row.run_id));
  const childrenOf = Map.groupBy(rows, ({ parent_run_id: parent }) =>
    parent !== null && known.has(parent) ? parent : null,
  );
  const roots = childrenOf.get(null) ?? [];
  const title = escape(roots[0]?.name ?? 'Trace');
  const head = `<meta charset="utf-8"><meta name="robots" content="noindex"><title>${title}</title>`;
  return `<!doctype html><html lang="en"><head>${head}</head><body><h1>${title}</h1>${roots
    .map((row) => section(row, childrenOf))
    .join('')}</body></html>`;
}
