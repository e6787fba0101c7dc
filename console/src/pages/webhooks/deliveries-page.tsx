import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/form-field';
import { Page } from '../../ui/page';
import { usePaged } from '../../ui/paged';
import { Status } from '../../ui/status';
import { Time } from '../../ui/time';
import { type Delivery, listDeliveries, sendTest } from './webhooks-api';

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'];
const REFETCH_MS = 5_000;
const column = columnsOf<Delivery>();

const COLUMNS = [
  column.accessor('url', { header: 'Receiver', meta: { width: 'minmax(10rem, 2fr)' } }),
  column.accessor('status', {
    header: 'Status',
    meta: { width: '8rem' },
    cell: ({ getValue }) => <Status status={getValue()} />,
  }),
  column.accessor('kind', { header: 'Of', meta: { width: '6rem', wideOnly: true } }),
  column.display({
    id: 'attempts',
    header: 'Attempts',
    meta: { width: '6rem' },
    cell: ({ row: { original } }) => (
      <span className="tabular-nums">{`${original.attempt_count} of ${original.max_attempts}`}</span>
    ),
  }),
  column.display({
    id: 'answer',
    header: 'Last answer',
    meta: { width: 'minmax(7rem, 1fr)', wideOnly: true },
    cell: ({ row: { original } }) => original.last_response_code ?? original.last_error ?? '—',
  }),
  column.accessor('next_attempt_at', {
    header: 'Next attempt',
    meta: { width: '7rem', wideOnly: true },
    cell: ({ getValue }) => <Time at={getValue()} />,
  }),
  column.accessor('created_at', {
    header: 'Created',
    meta: { width: '6rem' },
    cell: ({ getValue }) => <Time at={getValue()} />,
  }),
];

function TestDialog({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [url, setUrl] = useState('');
  const submit = async (): Promise<void> => {
    const made = await sendTest(url);
    void navigate({ to: `/webhooks/${made.delivery_id}` as never });
  };
  return (
    <FormDialog title="Send a sample" action="Send" submit={submit} onClose={onClose}>
      <TextField
        label="URL"
        type="url"
        value={url}
        onChange={setUrl}
        isRequired
        placeholder="https://example.com/hooks/gantry"
        hint="One attempt without retries, under the same rules as the webhook of a run."
      />
    </FormDialog>
  );
}

export default function DeliveriesPage() {
  const [{ status, host, run }, change] = useUrlState();
  const [isTesting, setTesting] = useState(false);
  const filter = { status, host, run_id: run };
  const list = usePaged(['deliveries', 'list', filter], (offset) => listDeliveries(filter, offset), {
    refetchMs: REFETCH_MS,
  });
  return (
    <Page
      title="Webhooks"
      fills
      call={{ method: 'GET', path: '/webhooks/deliveries?limit=100' }}
      actions={
        <Button small icon="send" onClick={() => setTesting(true)}>
          Send a sample
        </Button>
      }
    >
      <div className="flex flex-wrap gap-2 px-4 py-2 sm:px-6">
        <select
          aria-label="Status"
          className="field w-40"
          value={status ?? ''}
          onChange={({ target }) => change({ status: target.value })}
        >
          <option value="">Every status</option>
          {STATUSES.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <input
          type="search"
          aria-label="Host of the receiver"
          placeholder="Host of the receiver"
          className="field max-w-56"
          value={host ?? ''}
          onChange={({ target }) => change({ host: target.value })}
        />
        {run && (
          <Button small icon="close" onClick={() => change({ run: undefined })}>
            Of one run
          </Button>
        )}
      </div>
      {list.error ? (
        <div className="px-6">
          <ErrorBox error={list.error} retry={list.refetch} />
        </div>
      ) : list.isLoading ? (
        <Loading />
      ) : (
        <DataTable
          label="Webhook deliveries"
          rows={list.rows}
          total={list.total}
          columns={COLUMNS as never}
          rowId={({ delivery_id: id }) => id}
          linkOf={({ delivery_id: id }) => `/webhooks/${id}`}
          onEnd={list.more}
          empty={
            <Empty icon="webhooks" title={status || host || run ? 'No delivery matches' : 'No deliveries yet'}>
              A run that is created with a <code className="font-mono text-xs">webhook</code> is posted to that URL when
              it ends.
            </Empty>
          }
        />
      )}
      {isTesting && <TestDialog onClose={() => setTesting(false)} />}
    </Page>
  );
}
