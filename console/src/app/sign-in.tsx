import { type FormEvent, useState } from 'react';
import { useQueryClient } from '@tanstack/react-query';
import { useInfo } from '../api/info';
import { ApiFailure } from '../api/failure';
import type { paths } from '../api/schema';
import { Button } from '../ui/button';
import { ErrorBox } from '../ui/feedback';
import { API_URL } from './base';
import { headersOf, signIn } from './session';

type Me = paths['/api/v1/me']['get']['responses'][200]['content']['application/json'];

/** Asks for a key or token, after the server has refused requests without one. */
export default function SignIn() {
  const info = useInfo();
  const queries = useQueryClient();
  const isCustom = info?.auth_type === 'custom';
  const [kind, setKind] = useState<'api_key' | 'token'>();
  const [value, setValue] = useState('');
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const chosen = kind ?? (isCustom ? 'token' : 'api_key');

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    try {
      const given = { kind: chosen, value: value.trim() };
      const response = await fetch(`${API_URL}/api/v1/me`, { headers: headersOf(given) });
      if (!response.ok) throw await ApiFailure.of(response);
      const { tenant_id: tenantId, kind: callerKind, identity } = (await response.json()) as Me;
      signIn({ ...given, tenantId, caller: JSON.stringify([tenantId, callerKind, identity]) });
      await queries.invalidateQueries();
    } catch (refused) {
      setError(refused);
    } finally {
      setBusy(false);
    }
  };

  return (
    <main className="flex h-full items-center justify-center bg-side p-4">
      <form onSubmit={(event) => void submit(event)} className="card w-full max-w-sm space-y-4 p-6 shadow-pop">
        <div>
          <h1 className="text-base font-semibold">Sign in to Gantry</h1>
          <p className="mt-1 text-muted">This server asks for credentials. They stay in this tab and end with it.</p>
        </div>
        {isCustom && (
          <fieldset className="flex gap-4">
            <legend className="sr-only">Kind of credentials</legend>
            {(['token', 'api_key'] as const).map((each) => (
              <label key={each} className="flex items-center gap-1.5">
                <input type="radio" name="kind" checked={chosen === each} onChange={() => setKind(each)} />
                {each === 'token' ? 'Token' : 'API key'}
              </label>
            ))}
          </fieldset>
        )}
        <label className="block">
          <span className="mb-1 block font-medium">{chosen === 'token' ? 'Bearer token' : 'API key'}</span>
          <input
            type="password"
            autoComplete="off"
            autoFocus
            required
            className="field h-9 font-mono"
            value={value}
            onChange={(event) => setValue(event.target.value)}
          />
        </label>
        {error !== undefined && <ErrorBox error={error} />}
        <Button type="submit" look="primary" className="w-full" disabled={isBusy || value.trim() === ''}>
          Sign in
        </Button>
      </form>
    </main>
  );
}
