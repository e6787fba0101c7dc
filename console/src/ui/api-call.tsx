import { lazy, Suspense, useState } from 'react';
import { IconButton } from './button';

const ApiCallDialog = lazy(() => import('./api-call-dialog'));

/** Request that the page is based on. */
export interface Call {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  body?: unknown;
  /** The same call with the JavaScript SDK: the text after `await client.`. If absent, fetch is shown. */
  js?: string;
  /** The same call with the Python SDK: the text after `client.`. */
  python?: string;
}

/** Shows the request that the page is based on, for users who automate it. */
export function ApiCall({ call }: { call: Call }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <IconButton icon="code" label="Show the API call" onClick={() => setOpen(true)} />
      <Suspense>{isOpen && <ApiCallDialog call={call} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
