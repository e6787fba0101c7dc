import type { TraceRunRow } from '../query/trace-runs.repository';

const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text: string): string => text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

const payload = (title: string, text: string | null | undefined): string =>
  text ? `<h4>${title}</h4><pre>${escape(text)}</pre>` : '';

/** A tree of runs as nested sections. It keeps its own stack, since a trace may be as deep as it is long. */
function sectionsOf(roots: TraceRunRow[], childrenOf: Map<string | null, TraceRunRow[]>): string {
  const html: string[] = [];
  const stack: (TraceRunRow | string)[] = roots.toReversed();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if (typeof next === 'string') {
      html.push(next);
      continue;
    }
    const summary = `<b>${escape(next.name)}</b> ${escape(next.run_type)}, ${next.status}, ${next.start_time}`;
    const payloads = payload('Input', next.inputs) + payload('Output', next.outputs) + payload('Error', next.error);
    html.push(`<details open><summary>${summary}</summary><blockquote>${payloads}`);
    stack.push('</blockquote></details>');
    for (const child of (childrenOf.get(next.run_id) ?? []).toReversed()) stack.push(child);
  }
  return html.join('');
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
  return `<!doctype html><html lang="en"><head>${head}</head><body><h1>${title}</h1>${sectionsOf(roots, childrenOf)}</body></html>`;
}
