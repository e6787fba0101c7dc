import { CatchBoundary } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ErrorBox } from './feedback';

interface Props {
  /** The data that the content shows. After an error, only other data is rendered again. */
  of: unknown;
  /** Replaces the content after an error; by default the error's message. */
  fallback?: ReactNode;
  children: ReactNode;
}

/** Confines an error to the content that throws it, so that the rest of the page stays. */
export function Boundary({ of, fallback, children }: Props) {
  return (
    <CatchBoundary getResetKey={() => of} errorComponent={({ error }) => fallback ?? <ErrorBox error={error} />}>
      {children}
    </CatchBoundary>
  );
}
