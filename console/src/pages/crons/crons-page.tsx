import { useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { useAssistantOptions } from '../../api/assistant-options';
import { useAssistantName } from '../../api/assistants';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { statusCell, timeCell } from '../../ui/cells';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Empty, Loaded, Loading } from '../../ui/feedback';
import { FormDialog } from '../../ui/form-dialog';
import { SelectField, TextField } from '../../ui/form-field';
import { JsonField } from '../../ui/json-editor';
import { Page } from '../../ui/page';
import { usePaged } from '../../ui/paged';
import { Status } from '../../ui/status';
import { Tabs } from '../../ui/tabs';
import { createCron, type Cron, listCrons } from './crons-api';

const Calendar = lazy(() => import('./calendar'));
const REFETCH_MS = 5_000;
const column = columnsOf<Cron>();

function CronDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const { options: assistants, hint } = useAssistantOptions();
  const [assistant, setAssistant] = useState('');
  const [schedule, setSchedule] = useState('0 9 * * 1-5');
  const [timezone, setTimezone] = useState(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
  const [input, setInput] = useState<unknown>({ messages: [{ role: 'user', content: '' }] });
  const submit = async (): Promise<void> => {
    await createCron({ assistant_id: assistant || assistants[0]?.[0], schedule, timezone, input });
    await client.invalidateQueries({ queryKey: ['crons'] });
  };
  return (
    <FormDialog title="New cron" action="Create" submit={submit} onClose={onClose}>
      <SelectField
        label="Assistant"
        value={assistant || (assistants[0]?.[0] ?? '')}
        onChange={setAssistant}
        options={assistants}
        hint={hint}
      />
      <TextField
        label="Schedule"
        value={schedule}
        onChange={setSchedule}
        isRequired
        hint="minute hour day-of-month month day-of-week, or @hourly, @daily, @weekly, @monthly, @yearly"
      />
      <TextField label="Time zone" value={timezone} onChange={setTimezone} hint="An IANA name, such as Europe/Oslo." />
      <div>
        <span className="mb-1 block font-medium">Input</span>
        <JsonField value={input} onChange={setInput} label="Input" />
      </div>
      <p className="text-xs text-muted">Each run has a thread of its own. Crons on one thread are made by the API.</p>
    </FormDialog>
  );
}

export default function CronsPage() {
  const [{ tab = 'list' }, change] = useUrlState();
  const [isCreating, setCreating] = useState(false);
  const list = usePaged(['crons', 'list'], listCrons, { refetchMs: REFETCH_MS });
  const assistantName = useAssistantName();
  const nameOf = (cron: Cron): string => assistantName(cron.assistant_id);
  const columns = [
    column.accessor('assistant_id', {
      header: 'Assistant',
      meta: { width: 'minmax(8rem, 1.5fr)' },
      cell: ({ row: { original } }) => nameOf(original),
    }),
    column.accessor('schedule', {
      header: 'Schedule',
      meta: { width: 'minmax(8rem, 1fr)' },
      cell: ({ row: { original } }) => (
        <span>
          <span className="font-mono text-xs">{original.schedule}</span>
          {original.timezone && <span className="ml-2 text-xs text-muted">{original.timezone}</span>}
        </span>
      ),
    }),
    column.accessor('status', {
      header: 'Status',
      meta: { width: '7rem' },
      cell: statusCell,
    }),
    column.accessor('next_run_date', {
      header: 'Next',
      meta: { width: '6rem' },
      cell: timeCell,
    }),
    column.accessor('last_run', {
      header: 'Last run',
      meta: { width: '8rem', wideOnly: true },
      cell: ({ getValue }) => {
        const last = getValue();
        return last ? <Status status={last.status} /> : <span className="text-muted">none yet</span>;
      },
    }),
    column.accessor('consecutive_failures', {
      header: 'Failures',
      meta: { width: '5rem', wideOnly: true },
      cell: ({ getValue }) => <span className={getValue() > 0 ? 'text-bad' : 'text-muted'}>{getValue()}</span>,
    }),
  ];
  const newCron = (
    <Button small look="primary" icon="plus" onClick={() => setCreating(true)}>
      New cron
    </Button>
  );
  return (
    <Page
      title="Crons"
      fills
      actions={newCron}
      call={{
        method: 'POST',
        path: '/runs/crons/search',
        body: { limit: 100 },
        js: 'crons.search({ limit: 100 })',
        python: 'crons.search(limit=100)',
      }}
    >
      <Loaded of={list} inset>
        {(rows) => (
          <Tabs
            label="Views of the crons"
            className="min-h-0 flex-1 px-4 pt-1 sm:px-6"
            value={tab}
            onChange={(value) => change({ tab: value })}
            tabs={[
              {
                value: 'list',
                label: 'List',
                content: (
                  <div className="-mx-4 flex h-full min-h-0 flex-col sm:-mx-6">
                    <DataTable
                      label="Crons"
                      rows={rows}
                      total={list.total}
                      columns={columns as never}
                      rowId={({ cron_id: id }) => id}
                      linkOf={({ cron_id: id }) => `/crons/${id}`}
                      onEnd={list.more}
                      empty={
                        <Empty icon="crons" title="No crons yet">
                          <p className="mb-3">A cron runs an assistant on a schedule, in any time zone.</p>
                          {newCron}
                        </Empty>
                      }
                    />
                  </div>
                ),
              },
              {
                value: 'calendar',
                label: 'Next 7 days',
                content: (
                  <div className="overflow-auto">
                    <Suspense fallback={<Loading />}>
                      <Calendar crons={rows} total={list.total} onMore={list.more} nameOf={nameOf} />
                    </Suspense>
                  </div>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {isCreating && <CronDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}
