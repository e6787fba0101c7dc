import './styles.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { useStore } from './app/external-store';
import { router } from './app/router';
import { credentials } from './app/session';
import './app/theme';
import { forgetNotes } from './ui/toast';

/** Pages that are hidden until their caller signs in again lose what was entered with the answers that they show. */
const KEPT_HIDDEN_MS = 3_600_000;

const newQueries = (): QueryClient =>
  new QueryClient({
    // A lost connection is noticed and repaired in one place (app/connection.ts); what the server refuses, it refuses again.
    defaultOptions: {
      queries: { retry: false, staleTime: 2_000, gcTime: KEPT_HIDDEN_MS, networkMode: 'always' },
      mutations: { networkMode: 'always' },
    },
  });

/** The pages of one caller, with the answers that this caller has got. */
function Pages() {
  const [queries] = useState(newQueries);
  useEffect(() => forgetNotes, []);
  return (
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  );
}

let caller = credentials.get()?.caller;
// What a caller has chosen or entered on a page is in its address as well.
credentials.subscribe(() => {
  const before = caller;
  caller = credentials.get()?.caller;
  if (before !== undefined && before !== caller) void router.navigate({ to: '.', search: {}, replace: true } as never);
});

/** Makes the pages again for each caller, so that none sees what another one has read or entered. */
function Console() {
  return <Pages key={useStore(credentials)?.caller} />;
}

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <Console />
    </CSPProvider>
  </StrictMode>,
);
