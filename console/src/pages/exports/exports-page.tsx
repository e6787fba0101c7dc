import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { shortCell, statusCell, timeCell } from '../../ui/cells';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { ChoiceFilter, Filters } from '../../ui/filters';
import { Page } from '../../ui/page';
import { usePaged } from '../../ui/paged';
import { ProgressBar } from '../../ui/progress-bar';
import { Tabs } from '../../ui/tabs';
import { DestinationDialog } from './destination-dialog';
import { Destinations } from './destinations';
import { ExportDialog } from './export-dialog';
import { type BulkExport, destinationsQuery, listExports } from './exports-api';
import { projectsQuery } from '../traces/traces-api';

const REFETCH_MS = 5_000;
const STATUSES = ['Created', 'IntervalScheduled', 'Running', 'Completed', 'Failed', 'Cancelled', 'TimedOut'];

const column = columnsOf<BulkExport>();

function Window({ start, end, hours }: { start: string; end: string | null; hours: number | null }) {
  const day = (instant: string): string => instant.slice(0, 10);
  if (hours !== null) return <>{`every ${hours} h from ${day(start)}`}</>;
  return <>{end === null || day(start) === day(end) ? day(start) : `${day(start)} to ${day(end)}`}</>;
}

function ExportList({ onCreate }: { onCreate: () => void }) {
  const [{ status }, change] = useUrlState();
  const list = usePaged(['exports', 'list', status], (offset) => listExports({ status }, offset), {
    refetchMs: REFETCH_MS,
  });
  const projects = useQuery(projectsQuery()).data ?? [];
  const destinations = useQuery(destinationsQuery).data ?? [];
  const columns = [
    column.accessor('session_id', {
      header: 'Project',
      meta: { width: 'minmax(9rem, 1.4fr)' },
      cell: ({ row: { original } }) =>
        original.all_experiments
          ? 'All experiments'
          : (projects.find(({ id }) => id === original.session_id)?.name ?? original.session_id ?? 'deleted project'),
    }),
    column.accessor('status', {
      header: 'Status',
      meta: { width: '9rem' },
      cell: statusCell,
    }),
    column.accessor('start_time', {
      header: 'Window',
      meta: { width: 'minmax(9rem, 1fr)', wideOnly: true },
      cell: ({ row: { original: row } }) => (
        <Window start={row.start_time} end={row.end_time} hours={row.interval_hours} />
      ),
    }),
    column.accessor('progress', {
      header: 'Days',
      meta: { width: '8rem', wideOnly: true },
      cell: ({ row: { original: row } }) =>
        row.interval_hours === null && row.progress.partitions_total > 0 ? (
          <div className="flex items-center gap-2">
            <ProgressBar
              label="Days that are complete"
              value={row.progress.partitions_done}
              of={row.progress.partitions_total}
            />
            <span className="text-xs text-muted tabular-nums">
              {row.progress.partitions_done}/{row.progress.partitions_total}
            </span>
          </div>
        ) : null,
    }),
    column.accessor((row) => row.progress.rows_written, {
      id: 'rows',
      header: 'Rows',
      meta: { width: '5rem', wideOnly: true },
      cell: ({ getValue }) => shortCell({ getValue }),
    }),
    column.accessor('bulk_export_destination_id', {
      header: 'Destination',
      meta: { width: 'minmax(7rem, 1fr)', wideOnly: true },
      cell: ({ getValue }) => destinations.find(({ id }) => id === getValue())?.display_name ?? 'deleted',
    }),
    column.accessor('created_at', {
      header: 'Created',
      meta: { width: '6rem' },
      cell: timeCell,
    }),
  ];
  return (
    <div className="-mx-4 flex h-full min-h-0 flex-col sm:-mx-6">
      <Filters>
        <ChoiceFilter
          label="Status"
          any="Any status"
          value={status}
          options={STATUSES}
          onChange={(value) => change({ status: value })}
        />
      </Filters>
      <Loaded of={list} inset>
        {(rows) => (
          <DataTable
            label="Exports"
            rows={rows}
            total={list.total}
            columns={columns as never}
            rowId={({ id }) => id}
            linkOf={({ id }) => `/exports/${id}`}
            onEnd={list.more}
            empty={
              <Empty icon="exports" title={status ? `No export is ${status}` : 'No exports yet'}>
                <p className="mb-3">
                  An export writes the traces of a project to your bucket as Parquet files, once or on a schedule.
                </p>
                {!status && (
                  <Button look="primary" onClick={onCreate}>
                    New export
                  </Button>
                )}
              </Empty>
            }
          />
        )}
      </Loaded>
    </div>
  );
}

export default function ExportsPage() {
  const [{ tab = 'exports' }, change] = useUrlState();
  const [dialog, setDialog] = useState<'export' | 'destination'>();
  return (
    <Page
      title="Exports"
      fills
      call={{ method: 'GET', path: '/api/v1/bulk-exports?limit=100' }}
      actions={
        <>
          <Button small onClick={() => setDialog('destination')}>
            New destination
          </Button>
          <Button small look="primary" icon="plus" onClick={() => setDialog('export')}>
            New export
          </Button>
        </>
      }
    >
      <Tabs
        label="Exports and destinations"
        className="min-h-0 flex-1 px-4 pt-1 sm:px-6"
        value={tab}
        onChange={(value) => change({ tab: value })}
        tabs={[
          { value: 'exports', label: 'Exports', content: <ExportList onCreate={() => setDialog('export')} /> },
          {
            value: 'destinations',
            label: 'Destinations',
            content: <Destinations onCreate={() => setDialog('destination')} />,
          },
        ]}
      />
      {dialog === 'export' && <ExportDialog onClose={() => setDialog(undefined)} />}
      {dialog === 'destination' && (
        <DestinationDialog
          onClose={() => setDialog(undefined)}
          onCreated={({ id }) => change({ tab: 'destinations', test: id })}
        />
      )}
    </Page>
  );
}
