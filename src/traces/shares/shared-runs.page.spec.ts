import type { TraceRunRow } from '../query/trace-runs.repository';
import { sharedRunsPage } from './shared-runs.page';

const run = (id: string, parent: string | null): TraceRunRow =>
  ({
    run_id: id,
    parent_run_id: parent,
    name: `run <${id}>`,
    run_type: 'chain',
    status: 'success',
    start_time: '2026-01-01T00:00:00Z',
    inputs: null,
    outputs: null,
    error: null,
  }) as TraceRunRow;

describe('sharedRunsPage', () => {
  it('nests runs under their parents, in order', () => {
    const page = sharedRunsPage([run('a', null), run('b', 'a'), run('c', 'b'), run('d', 'a')]);
    const outline = page
      .match(/<details|<\/details|run &lt;\w&gt;<\/b>/g)
      ?.map((part) => part.replace(/^run.*;(\w)&.*/, '$1'));
    expect(outline?.join(' ').replaceAll('<details', '(').replaceAll('</details', ')')).toBe('( a ( b ( c ) ) ( d ) )');
  });

  it('shows a trace whose every run has one child, however deep', () => {
    const rows = Array.from({ length: 20_000 }, (_, index) =>
      run(String(index), index === 0 ? null : String(index - 1)),
    );
    expect(sharedRunsPage(rows).match(/<\/details>/g)).toHaveLength(20_000);
  });
});
