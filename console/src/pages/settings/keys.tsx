import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy-button';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Confirm, Dialog } from '../../ui/dialog';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { FormDialog } from '../../ui/form-dialog';
import { SelectField, TextField } from '../../ui/form-field';
import { Status } from '../../ui/status';
import { Time } from '../../ui/time';
import { type ApiKey, createKey, keysQuery, revokeKey, tenantsQuery } from './settings-api';

const column = columnsOf<ApiKey>();

function KeyDialog({ onMade, onClose }: { onMade: (key: string) => void; onClose: () => void }) {
  const client = useQueryClient();
  const tenants = useQuery(tenantsQuery).data ?? [];
  const [tenant, setTenant] = useState('');
  const [name, setName] = useState('');
  const [expires, setExpires] = useState('');
  const submit = async (): Promise<void> => {
    const made = await createKey({
      tenant_id: tenant || tenants[0]?.tenant_id,
      name,
      ...(expires && { expires_at: `${expires}T00:00:00Z` }),
    });
    onMade(made.key);
    await client.invalidateQueries({ queryKey: keysQuery.queryKey });
  };
  return (
    <FormDialog title="New API key" action="Create key" submit={submit} onClose={onClose}>
      <SelectField
        label="Tenant"
        value={tenant || (tenants[0]?.tenant_id ?? '')}
        onChange={setTenant}
        options={tenants.map(({ tenant_id: id, name: text }) => [id, text] as const)}
      />
      <TextField label="Name" value={name} onChange={setName} isRequired placeholder="ci" />
      <TextField label="Expires" type="date" value={expires} onChange={setExpires} hint="Left empty: never" />
    </FormDialog>
  );
}

export function Keys() {
  const client = useQueryClient();
  const query = useQuery(keysQuery);
  const tenants = useQuery(tenantsQuery).data ?? [];
  const [isCreating, setCreating] = useState(false);
  const [made, setMade] = useState<string>();
  const [doomed, setDoomed] = useState<ApiKey>();
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Loading />;
  const columns = [
    column.accessor('name', { header: 'Name', meta: { width: 'minmax(7rem, 1fr)' } }),
    column.accessor('tenant_id', {
      header: 'Tenant',
      meta: { width: 'minmax(7rem, 1fr)', wideOnly: true },
      cell: ({ getValue }) => tenants.find(({ tenant_id: id }) => id === getValue())?.name ?? getValue(),
    }),
    column.accessor('hint', {
      header: 'Key',
      meta: { width: '9rem', wideOnly: true },
      cell: ({ getValue }) => <span className="font-mono text-xs">{getValue()}</span>,
    }),
    column.accessor('last_used_at', {
      header: 'Last used',
      meta: { width: '6rem', wideOnly: true },
      cell: ({ getValue }) => <Time at={getValue()} />,
    }),
    column.accessor('expires_at', {
      header: 'Expires',
      meta: { width: '6rem' },
      cell: ({ getValue }) => <Time at={getValue()} />,
    }),
    column.display({
      id: 'revoke',
      header: '',
      meta: { width: '6rem' },
      cell: ({ row: { original } }) =>
        original.revoked_at ? (
          <Status status="revoked" />
        ) : (
          <Button small look="danger" aria-label={`Revoke ${original.name}`} onClick={() => setDoomed(original)}>
            Revoke
          </Button>
        ),
    }),
  ];
  return (
    <div className="flex h-full min-h-0 flex-col gap-3">
      <div>
        <Button small look="primary" icon="plus" onClick={() => setCreating(true)}>
          New key
        </Button>
      </div>
      <div className="card flex min-h-64 flex-1 flex-col overflow-hidden">
        <DataTable
          label="API keys"
          rows={query.data}
          columns={columns as never}
          rowId={({ key_id: id }) => id}
          empty={
            <Empty icon="key" title="No keys yet">
              “New key” creates one for a tenant; clients send it as X-API-Key.
            </Empty>
          }
        />
      </div>
      {isCreating && <KeyDialog onMade={setMade} onClose={() => setCreating(false)} />}
      {made && (
        <Dialog title="The new key" open onClose={() => setMade(undefined)} keeps>
          <p className="mb-3">Copy it now: it is stored as a hash and can’t be shown again.</p>
          <p className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2 font-mono text-xs break-all">
            {made}
            <CopyButton text={made} label="Copy the key" />
          </p>
        </Dialog>
      )}
      {doomed && (
        <Confirm
          title={`Revoke ${doomed.name}?`}
          action="Revoke key"
          open
          onClose={() => setDoomed(undefined)}
          act={async () => {
            await revokeKey(doomed.key_id);
            await client.invalidateQueries({ queryKey: keysQuery.queryKey });
          }}
        >
          Requests and streams with it end within seconds. Runs that it started continue. This can’t be undone.
        </Confirm>
      )}
    </div>
  );
}
