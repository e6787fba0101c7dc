import type { ReactNode } from 'react';
import { ApiFailure, messageOf } from '../api/failure';
import { Button } from './button';
import { Icon, type IconName } from './icons';

/** What the server said, where the content would be. */
export function ErrorBox({ error, retry }: { error: unknown; retry?: () => void }) {
  const failure = error instanceof ApiFailure ? error : undefined;
  return (
    <div role="alert" className="flex items-start gap-3 rounded-lg border border-bad/40 bg-bad-soft px-4 py-3 text-bad">
      <Icon name="warning" className="mt-0.5" />
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words">{messageOf(error)}</p>
        {failure && (
          <p className="mt-0.5 text-xs">
            {[failure.status, failure.code, failure.requestId && `request ${failure.requestId}`]
              .filter(Boolean)
              .join(' · ')}
          </p>
        )}
      </div>
      {retry && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** A place that has nothing yet, and how something gets there. */
export function Empty({ icon, title, children }: { icon: IconName; title: string; children?: ReactNode }) {
  return (
    <div className="flex flex-col items-center gap-1 px-6 py-14 text-center">
      <span className="mb-2 flex size-10 items-center justify-center rounded-full bg-hover text-muted">
        <Icon name={icon} size={20} />
      </span>
      <p className="font-medium">{title}</p>
      <div className="max-w-md text-muted">{children}</div>
    </div>
  );
}

/** Grey bars where content will be. */
export function Loading({ lines = 4 }: { lines?: number }) {
  return (
    <div className="space-y-3 p-4" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <div
          key={index}
          className="h-4 animate-pulse rounded bg-hover"
          style={{ width: `${90 - ((index * 17) % 50)}%` }}
        />
      ))}
    </div>
  );
}

/** What of a query its view needs: that of TanStack Query, or of `usePaged`. */
interface Reading<Data> {
  data: Data | undefined;
  error: unknown;
  refetch: () => unknown;
}

interface LoadedProps<Data> {
  of: Reading<Data>;
  /** Of the grey bars. */
  lines?: number;
  /** For places without a margin of their own. */
  inset?: boolean;
  children: (data: Data) => ReactNode;
}

/** What a query has read; until then grey bars, and what the server said where it refused. */
export function Loaded<Data>({ of: { data, error, refetch }, lines, inset, children }: LoadedProps<Data>) {
  if (error) {
    const box = <ErrorBox error={error} retry={() => void refetch()} />;
    return inset ? <div className="p-4 sm:px-6">{box}</div> : box;
  }
  return data === undefined ? <Loading lines={lines} /> : children(data);
}
