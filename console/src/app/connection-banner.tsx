import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { relative, useNow } from '../ui/time';
import { lostSince, watchConnection } from './connection';
import { useStore } from './external-store';

/** Says that the server can't be reached, and reads everything on the page again once it can. */
export function ConnectionBanner() {
  const since = useStore(lostSince);
  const queries = useQueryClient();
  const wasLost = useRef(false);
  const now = useNow();
  useEffect(watchConnection, []);
  useEffect(() => {
    if (wasLost.current && since === undefined) void queries.invalidateQueries();
    wasLost.current = since !== undefined;
  }, [since, queries]);
  if (since === undefined) return null;
  return (
    <div
      role="alert"
      className="shrink-0 border-b border-wait/40 bg-wait-soft px-4 py-1.5 text-center text-xs font-medium text-wait"
    >
      The connection to the server is lost since {relative(since, now)}. This page tries again by itself.
    </div>
  );
}
