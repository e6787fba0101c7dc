import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useAssistantName } from '../../api/assistants';
import { useTemporalLink } from '../../api/info';
import { Button, IconButton } from '../../ui/button';
import { errorCell, statusCell, timeCell } from '../../ui/cells';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Confirm } from '../../ui/dialog';
import { Empty, Loaded } from '../../ui/feedback';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/form-field';
import { JsonView } from '../../ui/json-view';
import { Facts, Page, Section } from '../../ui/page';
import { usePaged } from '../../ui/paged';
import { Status } from '../../ui/status';
import { notify, notifyError } from '../../ui/toast';
import { Time } from '../../ui/time';
import {
  backfillCron,
  type Cron,
  cronQuery,
  type CronRun,
  deleteCron,
  listCronRuns,
  pauseCron,
  resumeCron,
  triggerCron,
} from './crons-api';
import { nextFires } from './next-fires';

const REFETCH_MS = 3_000;
const SHOWN_FIRES = 5;
/** Maximum number of ticks that the dry run lists; the rest are counted. */
const LISTED_TICKS = 12;
const COUNTED_TICKS = 1000;
const column = columnsOf<CronRun>();

const COLUMNS = [
  column.accessor('scheduled_at', {
    header: 'Due',
    meta: { width: 'minmax(7rem, 1fr)' },
    cell: timeCell,
  }),
  column.accessor('status', {
    header: 'Status',
    meta: { width: '8rem' },
    cell: statusCell,
  }),
  column.accessor('trigger', { header: 'By', meta: { width: '6rem', wideOnly: true } }),
  column.accessor('error', {
    header: 'Error',
    meta: { width: 'minmax(8rem, 2fr)', wideOnly: true },
    cell: errorCell,
  }),
  column.accessor('ended_at', {
    header: 'Ended',
    meta: { width: '6rem' },
    cell: timeCell,
  }),
];

interface Range {
  schedule: string;
  timezone: string | null;
}

/** Preview of a backfill: the ticks that the schedule has in the range. */
function BackfillDialog({ id, schedule, timezone, onClose }: Range & { id: string; onClose: () => void }) {
  const client = useQueryClient();
  const [start, setStart] = useState('');
  const [end, setEnd] = useState('');
  const from = start && new Date(`${start}Z`);
  const until = end && new Date(`${end}Z`);
  const ticks =
    from && until
      ? nextFires({ schedule, timezone }, { from: new Date(from.getTime() - 1), until, count: COUNTED_TICKS })
      : [];
  const submit = async (): Promise<void> => {
    const made = await backfillCron(id, `${start}Z`, `${end}Z`);
    notify(`${made.runs.length} runs of ${made.ticks} ticks; ${made.already_fired} had been run before.`);
    await client.invalidateQueries({ queryKey: ['crons'] });
  };
  return (
    <FormDialog title="Run what is past" action="Backfill" submit={submit} onClose={onClose}>
      <TextField label="From (UTC)" type="datetime-local" value={start} onChange={setStart} isRequired />
      <TextField label="To (UTC)" type="datetime-local" value={end} onChange={setEnd} isRequired />
      {from && until && (
        <div className="rounded-md bg-sunken px-3 py-2" role="status">
          <p className="font-medium">
            {ticks.length === 0
              ? 'The schedule has no tick in this range.'
              : `${ticks.length}${ticks.length === COUNTED_TICKS ? ' or more' : ''} ticks; those that were run before are left out.`}
          </p>
          <ul className="mt-1 columns-2 font-mono text-xs text-soft">
            {ticks.slice(0, LISTED_TICKS).map((at) => (
              <li key={at.getTime()}>{at.toISOString().slice(0, 16).replace('T', ' ')}</li>
            ))}
          </ul>
        </div>
      )}
    </FormDialog>
  );
}

function NextFires({ cron }: { cron: Cron }) {
  if (cron.status !== 'active') return <p className="text-muted">Not while it is {cron.status}.</p>;
  const fires = nextFires(cron, { from: new Date(), count: SHOWN_FIRES });
  if (fires.length === 0) return <p className="text-muted">No time is left before its end.</p>;
  return (
    <ul className="space-y-1">
      {fires.map((at) => (
        <li key={at.getTime()} className="flex gap-3">
          <span className="tabular-nums">{at.toLocaleString()}</span>
          <span className="text-muted">
            <Time at={at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

export default function CronPage() {
  const { cronId } = useParams({ strict: false }) as { cronId: string };
  const query = useQuery(cronQuery(cronId));
  const nameOf = useAssistantName();
  const runs = usePaged(['crons', cronId, 'runs'], (offset) => listCronRuns(cronId, offset), { refetchMs: REFETCH_MS });
  const temporal = useTemporalLink(`cron-tick-${cronId}`);
  const client = useQueryClient();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'backfill' | 'delete'>();
  const act = useMutation({
    mutationFn: (action: () => Promise<unknown>) => action(),
    onError: notifyError,
    onSuccess: () => client.invalidateQueries({ queryKey: ['crons'] }),
  });
  const cron = query.data;
  return (
    <Page
      title={cron ? nameOf(cron.assistant_id) : 'Cron'}
      parent={{ title: 'Crons', to: '/crons' }}
      beside={cron && <Status status={cron.status} />}
      temporal={temporal}
      call={{ method: 'GET', path: `/runs/crons/${cronId}` }}
      actions={
        cron && (
          <>
            <Button
              small
              icon="send"
              disabled={act.isPending}
              onClick={() => act.mutate(() => triggerCron(cronId).then(() => notify('A run was started.')))}
            >
              Trigger
            </Button>
            {cron.status === 'active' ? (
              <Button small disabled={act.isPending} onClick={() => act.mutate(() => pauseCron(cronId, ''))}>
                Pause
              </Button>
            ) : (
              <Button small disabled={act.isPending} onClick={() => act.mutate(() => resumeCron(cronId))}>
                Resume
              </Button>
            )}
            <Button small onClick={() => setDialog('backfill')}>
              Backfill
            </Button>
            <IconButton icon="trash" label="Delete the cron" onClick={() => setDialog('delete')} />
          </>
        )
      }
    >
      <Loaded of={query}>
        {(cron) => (
          <div className="space-y-6">
            {cron.status_reason && <p className="rounded-lg bg-wait-soft px-4 py-3 text-wait">{cron.status_reason}</p>}
            <div className="grid gap-6 lg:grid-cols-2">
              <Section title="Cron">
                <Facts
                  facts={[
                    ['Id', <span className="font-mono text-xs">{cron.cron_id}</span>],
                    ['Schedule', <span className="font-mono text-xs">{cron.schedule}</span>],
                    ['Time zone', cron.timezone ?? 'UTC'],
                    ['Thread', cron.thread_id ?? 'a new one for each run'],
                    ['Missed ticks', cron.catchup],
                    ['Overlap', cron.overlap],
                    ['Failures in a row', String(cron.consecutive_failures)],
                    ['Ends', <Time at={cron.end_time} />],
                  ]}
                />
              </Section>
              <Section title="Next">
                <NextFires cron={cron} />
              </Section>
            </div>
            <Section title="What it runs">
              <div className="card p-2">
                <JsonView value={cron.payload} />
              </div>
            </Section>
            <Section title="History">
              <div className="card flex h-80 min-h-0 flex-col overflow-hidden">
                <DataTable
                  label="Runs of the cron"
                  rows={runs.data ?? []}
                  total={runs.total}
                  columns={COLUMNS as never}
                  rowId={({ scheduled_at: at, run_id: run, trigger }) => `${at} ${run} ${trigger}`}
                  onEnd={runs.more}
                  empty={
                    <Empty icon="runs" title="It has not run yet">
                      It runs at the times above; “Trigger” runs it now.
                    </Empty>
                  }
                />
              </div>
            </Section>
          </div>
        )}
      </Loaded>
      {dialog === 'backfill' && cron && (
        <BackfillDialog
          id={cronId}
          schedule={cron.schedule}
          timezone={cron.timezone}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'delete' && (
        <Confirm
          title="Delete this cron?"
          action="Delete cron"
          open
          onClose={() => setDialog(undefined)}
          act={async () => {
            await deleteCron(cronId);
            await client.invalidateQueries({ queryKey: ['crons'] });
            void navigate({ to: '/crons' as never });
          }}
        >
          It runs no more, and its history goes with it. Runs that it has started continue.
        </Confirm>
      )}
    </Page>
  );
}
