import { useEffect, useState } from 'react';
import { sdk } from '../../api/sdk';
import { notifyError } from '../../ui/toast';
import type { ReadRun } from './stream-log';

/**
 * Returns what cancels a run on the server.
 * @param run that the page reads; undefined while it is being created or joined, and then cancelled once it is known
 */
export function useStop(run: ReadRun | undefined, isRunning: boolean): () => void {
  const [isAsked, setAsked] = useState(false);
  useEffect(() => {
    if (!isAsked || (isRunning && !run)) return;
    setAsked(false);
    if (run) sdk.runs.cancel(run.threadId, run.runId).catch(notifyError);
  }, [isAsked, isRunning, run]);
  return () => setAsked(true);
}
