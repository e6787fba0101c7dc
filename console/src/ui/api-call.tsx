import { lazy, Suspense, useState } from 'react';
import { IconButton } from './button';

const ApiCallDialog = lazy(() => import('./api-call-dialog'));

/** The request that a page stands on. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  /** The same with the SDK of JavaScript: what follows `await client.`. Without it, fetch is shown. */
  js?: string;
  /** The same with the SDK of Python: what follows `client.`. */
  python?: string;
}

/** Shows the request that the page stands on, for those who want to do the same by program. */
export function ApiCall({ call }: { call: Call }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton icon="code" label="Show the API call" onClick={() => setOpen(true)} />
      <Suspense>{isOpen && <ApiCallDialog call={call} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
