import { Outlet } from '@tanstack/react-router';
import { Activity, lazy, Suspense, useState } from 'react';
import { useInfo } from '../api/info';
import { IconButton } from '../ui/button';
import { Notes } from '../ui/toast';
import { ConnectionBanner } from './connection-banner';
import { useStore } from './external-store';
import { Navigation } from './navigation';
import { credentials, isSignedOut } from './session';

const Drawer = lazy(() => import('./drawer'));
const SignIn = lazy(() => import('./sign-in'));

export function Shell() {
  const isRefused = useStore(isSignedOut);
  const given = useStore(credentials);
  const info = useInfo();
  const asksForCredentials = isRefused || (info !== undefined && info.auth_type !== 'none' && !given);
  const [isDrawerOpen, setDrawerOpen] = useState(false);
  return (
    <>
      <Suspense>{asksForCredentials && <SignIn />}</Suspense>
      {/* Hidden pages keep what was entered, and request nothing. */}
      <Activity mode={asksForCredentials ? 'hidden' : 'visible'}>
        <div className="flex h-full flex-col">
          <a href="#content" className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-surface focus:p-2">
            Skip to the content
          </a>
          <ConnectionBanner />
          <div className="flex min-h-0 flex-1">
            <div className="hidden lg:block">
              <Navigation />
            </div>
            <div className="flex min-w-0 flex-1 flex-col">
              <div className="flex h-10 shrink-0 items-center border-b border-line bg-side px-2 lg:hidden">
                <IconButton icon="menu" label="Open the navigation" onClick={() => setDrawerOpen(true)} />
                <span className="ml-2 font-semibold">Gantry</span>
              </div>
              <main id="content" tabIndex={-1} className="min-h-0 flex-1 outline-none">
                <Outlet />
              </main>
            </div>
          </div>
          <Notes />
          <Suspense>{isDrawerOpen && <Drawer onClose={() => setDrawerOpen(false)} />}</Suspense>
        </div>
      </Activity>
    </>
  );
}
