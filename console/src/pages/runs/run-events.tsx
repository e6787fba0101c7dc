import { useEffect, useState } from 'react';
import { useUrlState } from '../../app/url-state';
import { ErrorBox } from '../../ui/feedback';
import { Events } from '../playground/events';
import { modesOf, StreamLog } from '../playground/stream-log';

/** The newest events of a run, as the server has stored them; those of a live run follow as they come. */
export default function RunEvents({ threadId, runId }: { threadId: string; runId: string }) {
  const [{ modes }, setState] = useUrlState();
  const [log, setLog] = useState<StreamLog>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const stop = new AbortController();
    const read = new StreamLog();
    setLog(read);
    setError(undefined);
    const follow = async (): Promise<void> => {
      const stream = read.client.runs.joinStream(threadId, runId, { lastEventId: '-1', signal: stop.signal });
      for await (const _ of stream);
    };
    follow().catch((failure: unknown) => {
      if (!stop.signal.aborted) setError(failure);
    });
    return () => stop.abort();
  }, [threadId, runId]);
  return (
    <div className="space-y-3">
      {error !== undefined && <ErrorBox error={error} />}
      {log && (
        <section aria-label="Events" className="card flex h-[32rem] min-h-0 flex-col overflow-hidden">
          <Events log={log} modes={modesOf(modes)} onModes={(next) => setState({ modes: next.join() || undefined })} />
        </section>
      )}
    </div>
  );
}
