import { useEffect } from 'react';
import { ExternalStore, useStore } from '../app/external-store';

const TICK_MS = 5_000;
const now = new ExternalStore(Date.now());
let watchers = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** The current time, updated every few seconds and shared by all components that show times. */
export function useNow(): number {
  useEffect(() => {
    if (watchers++ === 0) timer = setInterval(() => now.set(Date.now()), TICK_MS);
    return () => {
      if (--watchers === 0) clearInterval(timer);
    };
  }, []);
  return useStore(now);
}

const UNITS: [limitSeconds: number, unitSeconds: number, name: string][] = [
  [60, 1, 's'],
  [3_600, 60, 'min'],
  [86_400, 3_600, 'h'],
  [86_400 * 60, 86_400, 'd'],
  [Infinity, 86_400 * 30, 'mo'],
];

export function relative(at: number, from: number): string {
  const seconds = Math.round(Math.abs(from - at) / 1000);
  if (seconds < 3) return 'now';
  const [, unit, name] = UNITS.find(([limit]) => seconds < limit)!;
  const text = `${Math.floor(seconds / unit)} ${name}`;
  return at > from ? `in ${text}` : `${text} ago`;
}

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** A time relative to now; the exact time is shown on hover. */
export function Time({ at }: { at: string | number | Date | null | undefined }) {
  const current = useNow();
  if (at == null) return <span className="text-muted">—</span>;
  const date = new Date(at);
  return (
    <time dateTime={date.toISOString()} title={exact.format(date)} className="whitespace-nowrap tabular-nums">
      {relative(date.getTime(), Math.max(current, Date.now() - TICK_MS))}
    </time>
  );
}

/** Formats a duration: `840 ms`, `3.2 s`, `4 min 10 s`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
