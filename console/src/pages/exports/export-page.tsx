import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTemporalLink } from '../../api/info';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { shortCell, statusCell, timeCell } from '../../ui/cells';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Confirm } from '../../ui/dialog';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { bytes, short, whole } from '../../ui/numbers';
import { Facts, Page, Section } from '../../ui/page';
import { usePaged } from '../../ui/paged';
import { ProgressBar } from '../../ui/progress-bar';
import { Status } from '../../ui/status';
import { notify, notifyError } from '../../ui/toast';
import { duration, Time } from '../../ui/time';
import { projectsQuery } from '../traces/traces-api';
import { Manifest } from './manifest';
import { NextWindows } from './next-windows';
import { PartitionDialog } from './partition-dialog';
import {
  type BulkExport,
  cancelExport,
  destinationsQuery,
  exportQuery,
  type ExportRun,
  isOpen,
  listExportRuns,
  listExports,
  placeOf,
  retryExport,
  type Verification,
  verifyExport,
} from './exports-api';

const REFETCH_MS = 2_000;
const partition = columnsOf<ExportRun>();
const window = columnsOf<BulkExport>();

const DAY_COLUMNS = [
  partition.accessor('start_time', {
    header: 'Day',
    meta: { width: 'minmax(7rem, 1fr)' },
    cell: ({ getValue }) => getValue().slice(0, 10),
  }),
  partition.accessor('status', {
    header: 'Status',
    meta: { width: '8rem' },
    cell: ({ row: { original: row } }) => <Status status={row.is_stalled ? 'Stalled' : row.status} />,
  }),
  partition.accessor((row) => row.metadata.result, {
    id: 'rows',
    header: 'Rows',
    meta: { width: '9rem' },
    cell: ({ getValue }) => (
      <span className="tabular-nums">{`${short(getValue().rows_written)} of ${short(getValue().rows_total)}`}</span>
    ),
  }),
  partition.accessor((row) => row.metadata.result.bytes_written, {
    id: 'bytes',
    header: 'Size',
    meta: { width: '6rem', wideOnly: true },
    cell: ({ getValue }) => <span className="tabular-nums">{bytes(getValue())}</span>,
  }),
  partition.accessor((row) => row.metadata.result.exported_files.length, {
    id: 'files',
    header: 'Files',
    meta: { width: '4rem', wideOnly: true },
  }),
  partition.accessor('retry_number', { header: 'Retries', meta: { width: '5rem', wideOnly: true } }),
  partition.accessor('finished_at', {
    header: 'Finished',
    meta: { width: '6rem', wideOnly: true },
    cell: timeCell,
  }),
];

const WINDOW_COLUMNS = [
  window.accessor('start_time', {
    header: 'Window',
    meta: { width: 'minmax(12rem, 1fr)' },
    cell: ({ row: { original: row } }) =>
      `${row.start_time.slice(0, 16).replace('T', ' ')} to ${row.end_time?.slice(0, 16).replace('T', ' ') ?? ''}`,
  }),
  window.accessor('status', {
    header: 'Status',
    meta: { width: '9rem' },
    cell: statusCell,
  }),
  window.accessor((row) => row.progress.rows_written, {
    id: 'rows',
    header: 'Rows',
    meta: { width: '6rem', wideOnly: true },
    cell: ({ getValue }) => shortCell({ getValue }),
  }),
  window.accessor('finished_at', {
    header: 'Finished',
    meta: { width: '6rem' },
    cell: timeCell,
  }),
];

function Progress({ of }: { of: BulkExport }) {
  const { progress } = of;
  return (
    <div className="card space-y-3 p-4">
      <ProgressBar label="Rows written" value={progress.rows_written} of={progress.rows_total} />
      <div className="flex flex-wrap gap-x-8 gap-y-1 tabular-nums">
        <span>{`${whole(progress.rows_written)} of ${whole(progress.rows_total)} rows`}</span>
        <span>{`${progress.partitions_done} of ${progress.partitions_total} days`}</span>
        <span>{bytes(progress.bytes_written)}</span>
        {progress.rows_per_second !== null && isOpen(of) && <span>{`${short(progress.rows_per_second)} rows/s`}</span>}
        {progress.seconds_left !== null && isOpen(of) && (
          <span>{`about ${duration(progress.seconds_left * 1000)} left`}</span>
        )}
        {progress.is_stalled && <span className="text-bad">No worker has reported for a minute.</span>}
      </div>
    </div>
  );
}

function VerificationResult({ result }: { result: Verification }) {
  return (
    <div
      role="status"
      className={`rounded-lg px-4 py-3 ${result.verified ? 'bg-good-soft text-good' : 'bg-bad-soft text-bad'}`}
    >
      <p className="font-medium">
        {result.verified
          ? `The bucket holds all ${whole(result.files)} files as they were written: ${whole(result.rows)} rows, ${bytes(result.bytes)}.`
          : `${result.problems.length} of the files are not as they were written.`}
      </p>
      <ul className="mt-1 space-y-0.5 font-mono text-xs">
        {result.problems.slice(0, 20).map(({ path, problem }) => (
          <li key={path}>{`${path} ${problem}`}</li>
        ))}
      </ul>
    </div>
  );
}

function Days({ id, isLive }: { id: string; isLive: boolean }) {
  const [{ day: open }, change] = useUrlState();
  const list = usePaged(['exports', id, 'runs'], (offset) => listExportRuns(id, offset), {
    refetchMs: isLive ? REFETCH_MS : undefined,
  });
  const [day, ...others] = DAY_COLUMNS;
  const columns = [
    {
      ...day,
      cell: ({ row: { original } }: { row: { original: ExportRun } }) => (
        <button type="button" className="text-accent hover:underline" onClick={() => change({ day: original.id })}>
          {original.start_time.slice(0, 10)}
        </button>
      ),
    },
    ...others,
  ];
  return (
    <div className="card flex h-96 min-h-0 flex-col overflow-hidden">
      <DataTable
        label="Days of the export"
        rows={list.data ?? []}
        total={list.total}
        columns={columns as never}
        rowId={({ id: each }) => each}
        onEnd={list.more}
        empty={
          <Empty icon="exports" title="No day has been planned yet">
            The days appear when the export starts: the limit on exports at once may delay it.
          </Empty>
        }
      />
      {open && (
        <PartitionDialog exportId={id} runId={open} onClose={() => change({ day: undefined, file: undefined })} />
      )}
    </div>
  );
}

function Windows({ id }: { id: string }) {
  const list = usePaged(['exports', id, 'windows'], (offset) => listExports({ source_bulk_export_id: id }, offset), {
    refetchMs: REFETCH_MS,
  });
  return (
    <div className="card flex h-96 min-h-0 flex-col overflow-hidden">
      <DataTable
        label="Windows of the schedule"
        rows={list.data ?? []}
        total={list.total}
        columns={WINDOW_COLUMNS as never}
        rowId={({ id: each }) => each}
        linkOf={({ id: each }) => `/exports/${each}`}
        onEnd={list.more}
        empty={
          <Empty icon="exports" title="No window has ended yet">
            Each window becomes an export of its own, ten minutes after it has ended.
          </Empty>
        }
      />
    </div>
  );
}

export default function ExportPage() {
  const { exportId } = useParams({ strict: false }) as { exportId: string };
  const query = useQuery(exportQuery(exportId));
  const projects = useQuery(projectsQuery()).data ?? [];
  const destinations = useQuery(destinationsQuery).data ?? [];
  const temporal = useTemporalLink(`export-${exportId}`);
  const client = useQueryClient();
  const [isCancelling, setCancelling] = useState(false);
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: ['exports'] });
  const verify = useMutation({
    mutationFn: () => verifyExport(exportId, true),
    onError: notifyError,
    onSuccess: refresh,
  });
  const retry = useMutation({
    mutationFn: () => retryExport(exportId),
    onError: notifyError,
    onSuccess: () => {
      notify('The days that failed are exported again.');
      return refresh();
    },
  });
  const shown = query.data;
  if (query.error) {
    return (
      <Page title="Export" parent={{ title: 'Exports', to: '/exports' }}>
        <ErrorBox error={query.error} retry={() => void query.refetch()} />
      </Page>
    );
  }
  if (!shown) {
    return (
      <Page title="Export" parent={{ title: 'Exports', to: '/exports' }}>
        <Loading />
      </Page>
    );
  }
  const destination = destinations.find(({ id }) => id === shown.bulk_export_destination_id);
  const project = projects.find(({ id }) => id === shown.session_id);
  const isSchedule = shown.interval_hours !== null;
  return (
    <Page
      title={project?.name ?? (shown.all_experiments ? 'All experiments' : 'Export')}
      parent={{ title: 'Exports', to: '/exports' }}
      beside={<Status status={shown.status} />}
      temporal={temporal}
      call={{ method: 'GET', path: `/api/v1/bulk-exports/${exportId}` }}
      actions={
        <>
          {shown.status === 'Completed' && (
            <Button small icon="check" disabled={verify.isPending} onClick={() => verify.mutate()}>
              {verify.isPending ? 'Reading the bucket…' : 'Verify'}
            </Button>
          )}
          {shown.status === 'Failed' && (
            <Button small icon="retry" disabled={retry.isPending} onClick={() => retry.mutate()}>
              Retry
            </Button>
          )}
          {isOpen(shown) && (
            <Button small look="danger" icon="stop" onClick={() => setCancelling(true)}>
              Cancel
            </Button>
          )}
        </>
      }
    >
      <div className="space-y-6">
        {shown.error && (
          <div role="alert" className="rounded-lg bg-bad-soft px-4 py-3 text-bad">
            <p className="font-medium">{shown.error}</p>
            {shown.error_hint && <p>{shown.error_hint}</p>}
          </div>
        )}
        {verify.data && <VerificationResult result={verify.data} />}
        {!isSchedule && <Progress of={shown} />}
        <Section title="Export">
          <Facts
            facts={[
              ['Id', <span className="font-mono text-xs">{shown.id}</span>],
              ['Destination', destination ? `${destination.display_name} (${placeOf(destination)})` : 'deleted'],
              ['From', shown.start_time],
              [isSchedule ? 'Window' : 'To', isSchedule ? `${shown.interval_hours} hours` : shown.end_time],
              ['Filter', shown.filter ? <code className="font-mono text-xs">{shown.filter}</code> : 'every run'],
              ['Columns', shown.export_fields?.join(', ') ?? 'all'],
              ['Compression', shown.compression],
              [
                'Schedule',
                shown.source_bulk_export_id && (
                  <Link to={`/exports/${shown.source_bulk_export_id}` as never} className="text-accent hover:underline">
                    the schedule that started it
                  </Link>
                ),
              ] as [string, React.ReactNode],
              ['Created', <Time at={shown.created_at} />],
              ['Finished', <Time at={shown.finished_at} />],
              ['Verified', <Time at={shown.verified_at} />],
            ].filter((fact): fact is [string, React.ReactNode] => Boolean(fact[1]))}
          />
        </Section>
        {shown.status === 'IntervalScheduled' && (
          <Section title="Next windows">
            <NextWindows of={shown} />
          </Section>
        )}
        <Section title={isSchedule ? 'Windows' : 'Days'}>
          {isSchedule ? <Windows id={exportId} /> : <Days id={exportId} isLive={isOpen(shown)} />}
        </Section>
        {shown.status === 'Completed' && (
          <Section title="Manifest">
            <Manifest exportId={exportId} />
          </Section>
        )}
      </div>
      {isCancelling && (
        <Confirm
          title="Cancel this export?"
          action="Cancel export"
          open
          onClose={() => setCancelling(false)}
          act={async () => {
            await cancelExport(exportId);
            await refresh();
          }}
        >
          {isSchedule
            ? 'No further window is exported. Exports that it has started continue.'
            : 'Files that are complete stay in the bucket. A cancelled export can’t be started again.'}
        </Confirm>
      )}
    </Page>
  );
}
