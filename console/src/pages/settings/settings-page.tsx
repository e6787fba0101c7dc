import { type QueryClient, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useStore } from '../../app/external-store';
import { adminKey, setAdminKey } from '../../app/session';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { ErrorBox, Loading } from '../../ui/feedback';
import { TextField } from '../../ui/form-field';
import { Facts, Page } from '../../ui/page';
import { Tabs } from '../../ui/tabs';
import { Audit } from './audit';
import { Keys } from './keys';
import { meQuery } from './settings-api';
import { Tenants } from './tenants';

function Caller() {
  const query = useQuery(meQuery);
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Loading />;
  const { tenant_id: tenant, kind, identity, permissions, entitlements, rate } = query.data;
  const who = { none: 'anonymous: authentication is off', api_key: 'an API key', user: 'a user' }[kind] ?? kind;
  return (
    <Facts
      facts={[
        ['Requests are sent as', who],
        ['Identity', identity ?? '—'],
        ['Tenant', <span className="font-mono text-xs">{tenant}</span>],
        [
          'Requests',
          rate ? `${rate.left} of ${rate.limit} are left for the next ${rate.seconds} s` : 'without a limit',
        ],
        ['Permissions', permissions?.join(', ') ?? 'all of the tenant'],
        [
          'Entitlements',
          Object.entries(entitlements)
            .filter(([, isGiven]) => isGiven)
            .map(([name]) => name.replaceAll('_', ' '))
            .join(', ') || 'none',
        ],
      ]}
    />
  );
}

/** Forgets what another key has opened, the pages below, and requests the findings of the System page again. */
function askAgain(client: QueryClient): Promise<unknown> {
  client.removeQueries({ queryKey: ['admin'] });
  return client.invalidateQueries({ queryKey: ['system'] });
}

/** Asks for the operator's key, which alone opens tenants, keys and the audit log. */
function ForOperators({ children }: { children: ReactNode }) {
  const given = useStore(adminKey);
  const client = useQueryClient();
  const [key, setKey] = useState('');
  if (given) return children;
  return (
    <form
      className="max-w-md space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        setAdminKey(key.trim());
        void askAgain(client);
      }}
    >
      <p>
        Tenants, keys and the audit log are the operator’s. The key is <code>GANTRY_ADMIN_KEY</code>, or{' '}
        <code>admin_key</code> in <code>endpoints.json</code> where <code>npm start</code> made one. It is kept for this
        tab alone.
      </p>
      <TextField label="Operator’s key" type="password" value={key} onChange={setKey} isRequired />
      <Button type="submit" look="primary">
        Open
      </Button>
    </form>
  );
}

export default function SettingsPage() {
  const [{ tab = 'you' }, change] = useUrlState();
  const given = useStore(adminKey);
  const client = useQueryClient();
  const forget = (): void => {
    setAdminKey('');
    void askAgain(client);
  };
  return (
    <Page
      title="Settings"
      fills
      call={{ method: 'GET', path: tab === 'you' ? '/api/v1/me' : `/admin/${tab}` }}
      actions={
        given && (
          <Button small onClick={forget}>
            Forget the operator’s key
          </Button>
        )
      }
    >
      <Tabs
        label="Settings"
        className="min-h-0 flex-1 px-4 pt-1 pb-4 sm:px-6"
        value={tab}
        onChange={(value) => change({ tab: value })}
        tabs={[
          { value: 'you', label: 'This caller', content: <Caller /> },
          {
            value: 'tenants',
            label: 'Tenants',
            content: (
              <ForOperators>
                <Tenants />
              </ForOperators>
            ),
          },
          {
            value: 'keys',
            label: 'API keys',
            content: (
              <ForOperators>
                <Keys />
              </ForOperators>
            ),
          },
          {
            value: 'audit',
            label: 'Audit log',
            content: (
              <ForOperators>
                <Audit />
              </ForOperators>
            ),
          },
        ]}
      />
    </Page>
  );
}
