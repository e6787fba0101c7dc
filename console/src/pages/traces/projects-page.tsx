import { Link } from '@tanstack/react-router';
import { useUrlState } from '../../app/url-state';
import { buttonClass } from '../../ui/button';
import { dollarsCell, shortCell } from '../../ui/cells';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { Filters, TextFilter } from '../../ui/filters';
import { percent } from '../../ui/numbers';
import { Page } from '../../ui/page';
import { usePaged } from '../../ui/paged';
import { duration, Time } from '../../ui/time';
import { API_URL } from '../../app/base';
import { listProjects, type ProjectWithStats, utc } from './traces-api';

const column = columnsOf<ProjectWithStats>();
const seconds = (value: number | null): string => (value === null ? '—' : duration(value * 1000));

const COLUMNS = [
  column.accessor('name', { header: 'Project', meta: { width: 'minmax(10rem, 2fr)' } }),
  column.accessor('run_count', {
    header: 'Runs',
    meta: { width: '5rem' },
    cell: shortCell,
  }),
  column.accessor('error_rate', {
    header: 'Errors',
    meta: { width: '5rem' },
    cell: ({ getValue }) => (
      <span className={(getValue() ?? 0) > 0 ? 'text-bad' : 'text-muted'}>{percent(getValue())}</span>
    ),
  }),
  column.accessor('latency_p50', {
    header: 'p50',
    meta: { width: '5rem', wideOnly: true },
    cell: ({ getValue }) => seconds(getValue()),
  }),
  column.accessor('latency_p99', {
    header: 'p99',
    meta: { width: '5rem', wideOnly: true },
    cell: ({ getValue }) => seconds(getValue()),
  }),
  column.accessor('total_tokens', {
    header: 'Tokens',
    meta: { width: '5rem', wideOnly: true },
    cell: shortCell,
  }),
  column.accessor('total_cost', {
    header: 'Cost',
    meta: { width: '5rem', wideOnly: true },
    cell: dollarsCell,
  }),
  column.accessor('last_run_start_time', {
    header: 'Last run',
    meta: { width: '6rem' },
    cell: ({ getValue }) => {
      const at = getValue();
      return <Time at={at === null ? null : utc(at)} />;
    },
  }),
];

export default function ProjectsPage() {
  const [{ name }, change] = useUrlState();
  const list = usePaged(['traces', 'projects', 'list', name], (offset) => listProjects(name, offset));
  return (
    <Page
      title="Traces"
      fills
      actions={
        <Link to="/traces/all" className={buttonClass('plain', true)}>
          Runs of all projects
        </Link>
      }
      call={{ method: 'GET', path: '/api/v1/sessions?include_stats=true' }}
    >
      <Filters>
        <TextFilter label="Find a project by its name" value={name} onChange={(value) => change({ name: value })} />
      </Filters>
      <Loaded of={list} inset>
        {(rows) => (
          <DataTable
            label="Tracing projects"
            rows={rows}
            total={list.total}
            columns={COLUMNS as never}
            rowId={({ id }) => id}
            linkOf={({ id }) => `/traces/${id}`}
            onEnd={list.more}
            empty={
              <Empty icon="traces" title={name ? 'No project has this in its name' : 'No traces yet'}>
                <p>
                  Runs of this server are traced into a project for each graph. Traces of your own programs come here
                  with
                </p>
                <code className="mt-2 block rounded-md bg-sunken px-3 py-2 text-left font-mono text-xs">
                  {`LANGSMITH_ENDPOINT=${API_URL}`}
                  <br />
                  LANGSMITH_TRACING=true
                </code>
              </Empty>
            }
          />
        )}
      </Loaded>
    </Page>
  );
}
