import type { ReactNode } from 'react';
import { failureOf, messageOf } from '../api/failure';
import { Button } from './button';
import { Icon, type IconName } from './icons';

/** The server's error message in the place of the content. */
export function ErrorBox({ error, retry }: { error: unknown; retry?: () => void }) {
  const failure = failureOf(error);
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

/** An empty list or page, with a hint at how it is filled. */
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

/** Grey bars as a placeholder for content that is loading. */
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

/** Fields of a query that its view needs, for queries of TanStack Query and of `usePaged`. */
interface Reading<Data> {
  data: Data | undefined;
  error: unknown;
  refetch: () => unknown;
}

interface LoadedProps<Data> {
  of: Reading<Data>;
  /** Number of grey bars. */
  lines?: number;
  /** Whether to add a margin, in places without one. */
  inset?: boolean;
  children: (data: Data) => ReactNode;
}

/**
 * Shows the result of a query; grey bars until it is there, and the server's message if it refused. What had been read before the
 * refusal stays under the message: a list keeps its place, and a form in it its text.
 */
export function Loaded<Data>({ of: { data, error, refetch }, lines, inset, children }: LoadedProps<Data>) {
  const note = error ? (
    <div className={inset ? 'p-4 sm:px-6' : 'mb-4'}>
      <ErrorBox error={error} retry={() => void refetch()} />
    </div>
  ) : undefined;
  if (data === undefined) return note ?? <Loading lines={lines} />;
  return (
    <>
      {note}
      {children(data)}
    </>
  );
}
