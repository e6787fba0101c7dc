import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { statusCell, timeCell } from '../../ui/cells';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { ChoiceFilter, Filters, TextFilter } from '../../ui/filters';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/form-field';
import { Page } from '../../ui/page';
import { usePaged } from '../../ui/paged';
import { type Delivery, listDeliveries, sendTest } from './webhooks-api';

const STATUSES = ['pending', 'delivered', 'failed', 'cancelled'];
const REFETCH_MS = 5_000;
const column = columnsOf<Delivery>();

const COLUMNS = [
  column.accessor('url', { header: 'Receiver', meta: { width: 'minmax(10rem, 2fr)' } }),
  column.accessor('status', {
    header: 'Status',
    meta: { width: '8rem' },
    cell: statusCell,
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
    cell: timeCell,
  }),
  column.accessor('created_at', {
    header: 'Created',
    meta: { width: '6rem' },
    cell: timeCell,
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
      <Filters>
        <ChoiceFilter
          label="Status"
          any="Any status"
          value={status}
          options={STATUSES}
          onChange={(value) => change({ status: value })}
        />
        <TextFilter label="Host of the receiver" value={host} onChange={(value) => change({ host: value })} />
        {run && (
          <Button small icon="close" onClick={() => change({ run: undefined })}>
            Of one run
          </Button>
        )}
      </Filters>
      <Loaded of={list} inset>
        {(rows) => (
          <DataTable
            label="Webhook deliveries"
            rows={rows}
            total={list.total}
            columns={COLUMNS as never}
            rowId={({ delivery_id: id }) => id}
            linkOf={({ delivery_id: id }) => `/webhooks/${id}`}
            onEnd={list.more}
            empty={
              <Empty icon="webhooks" title={status || host || run ? 'No delivery matches' : 'No deliveries yet'}>
                A run that is created with a <code className="font-mono text-xs">webhook</code> is posted to that URL
                when it ends.
              </Empty>
            }
          />
        )}
      </Loaded>
      {isTesting && <TestDialog onClose={() => setTesting(false)} />}
    </Page>
  );
}
