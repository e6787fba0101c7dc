import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button, IconButton } from '../../ui/button';
import { ErrorBox, Loading } from '../../ui/feedback';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/form-field';
import { notifyError } from '../../ui/toast';
import { Time } from '../../ui/time';
import { VirtualList } from '../../ui/virtual-list';
import { createTenant, renameTenant, setEntitlement, type Tenant, tenantsQuery } from './settings-api';

/** Height in pixels that a row is assumed to have until it is rendered. */
const ROW_ESTIMATE = 62;

export function Tenants() {
  const client = useQueryClient();
  const query = useQuery(tenantsQuery);
  const [isCreating, setCreating] = useState(false);
  const [renamed, setRenamed] = useState<Tenant>();
  const [name, setName] = useState('');
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: tenantsQuery.queryKey });
  const give = useMutation({
    mutationFn: ({ id, entitlement, isGiven }: { id: string; entitlement: string; isGiven: boolean }) =>
      setEntitlement(id, entitlement, isGiven),
    onError: notifyError,
    onSuccess: refresh,
  });
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Loading />;
  return (
    <div className="flex h-full flex-col items-stretch gap-3">
      <Button
        small
        className="self-start"
        look="primary"
        icon="plus"
        onClick={() => {
          setName('');
          setCreating(true);
        }}
      >
        New tenant
      </Button>
      <div className="min-h-0 flex-1 overflow-auto">
        <VirtualList
          items={query.data}
          keyOf={({ tenant_id: id }) => id}
          label="Tenants"
          estimate={ROW_ESTIMATE}
          gap={8}
        >
          {(tenant) => (
            <div className="card flex flex-wrap items-center gap-x-6 gap-y-2 px-4 py-3">
              <div className="min-w-0 flex-1">
                <p className="flex items-center gap-1 font-medium">
                  {tenant.name}
                  <IconButton
                    icon="edit"
                    label={`Rename ${tenant.name}`}
                    onClick={() => {
                      setName(tenant.name);
                      setRenamed(tenant);
                    }}
                  />
                </p>
                <p className="font-mono text-xs text-muted">{tenant.tenant_id}</p>
              </div>
              {Object.entries(tenant.entitlements).map(([entitlement, isGiven]) => (
                <label key={entitlement} className="flex items-center gap-1.5">
                  <input
                    type="checkbox"
                    checked={isGiven}
                    disabled={give.isPending}
                    onChange={({ target }) =>
                      give.mutate({ id: tenant.tenant_id, entitlement, isGiven: target.checked })
                    }
                  />
                  {entitlement.replaceAll('_', ' ')}
                </label>
              ))}
              <Time at={tenant.created_at} />
            </div>
          )}
        </VirtualList>
      </div>
      {renamed && (
        <FormDialog
          title={`Rename ${renamed.name}`}
          action="Rename"
          submit={async () => {
            await renameTenant(renamed.tenant_id, name);
            await refresh();
          }}
          onClose={() => setRenamed(undefined)}
        >
          <TextField label="Name" value={name} onChange={setName} isRequired />
        </FormDialog>
      )}
      {isCreating && (
        <FormDialog
          title="New tenant"
          action="Create tenant"
          submit={async () => {
            await createTenant(name);
            await refresh();
          }}
          onClose={() => setCreating(false)}
        >
          <TextField label="Name" value={name} onChange={setName} isRequired placeholder="acme" />
        </FormDialog>
      )}
    </div>
  );
}
