import type { TraceRunRow } from '../query/trace-runs.repository';
import { sharedRunsPage } from './shared-runs.page';

const row = (id: string, parent: string | null): TraceRunRow =>
  ({
    ...{ run_id: id, parent_run_id: parent, name: `name-${id}`, run_type: 'chain', status: 'success' },
    ...{ start_time: '2026-11-20T10:00:00.000000Z', error: null },
  }) as TraceRunRow;
const run = (id: string, ...children: string[]): string =>
  `<details open><summary><b>name-${id}</b> chain, success, 2026-11-20T10:00:00.000000Z</summary>` +
  `<blockquote>${children.join('')}</blockquote></details>`;

describe('page of a public link', () => {
  it('shows the runs as a tree, siblings in their order', () => {
    const page = sharedRunsPage([row('a', null), row('b', 'a'), row('c', 'a'), row('d', 'b'), row('e', 'a')]);
    expect(page).toContain(`<h1>name-a</h1>${run('a', run('b', run('d')), run('c'), run('e'))}</body>`);
  });

  it('shows runs whose parent is not part of it beside the roots', () => {
    expect(sharedRunsPage([row('a', null), row('b', 'missing')])).toContain(`${run('a')}${run('b')}</body>`);
  });

  it('gives each of many siblings once', () => {
    const ids = Array.from({ length: 5000 }, (_, index) => `child${index}`);
    const page = sharedRunsPage([row('a', null), ...ids.map((id) => row(id, 'a'))]);
    expect(page).toContain(run('a', ...ids.map((id) => run(id))));
  });
});
