import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback } from 'react';

export type UrlState = Record<string, string | undefined>;

/** Parses `?a=1&b=2` into strings, so that the state of a page is readable in its address. */
export const parseSearch = (text: string): UrlState => Object.fromEntries(new URLSearchParams(text));

export function stringifySearch(search: UrlState): string {
  const given = Object.entries(search).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== '',
  );
  const text = new URLSearchParams(given).toString();
  return text && `?${text}`;
}

/** The state of the page in its address. A change replaces the entry of the history unless `push` is given. */
export function useUrlState(): [UrlState, (change: UrlState, options?: { push?: boolean }) => void] {
  const state = useSearch({ strict: false }) as UrlState;
  const navigate = useNavigate();
  const change = useCallback(
    (next: UrlState, { push = false } = {}) => {
      void navigate({ to: '.', search: (previous: UrlState) => ({ ...previous, ...next }), replace: !push } as never);
    },
    [navigate],
  );
  return [state, change];
}
