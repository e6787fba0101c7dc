import type { Info } from '../../api/info';
import { metricOf, type Metrics } from '../../api/metrics';
import { duration } from '../../ui/time';

export interface Health {
  ok: boolean;
  services?: Record<string, string>;
  /** Milliseconds by which the clock of the server is ahead of the browser's; null where the server names no time. */
  skewMs: number | null;
}

export interface Finding {
  level: 'pass' | 'warn' | 'fail';
  check: string;
  /** State that was found. */
  text: string;
  /** Remedy. */
  hint?: string;
}

/** Signatures and expiry dates tolerate less than a minute; the Date header has whole seconds. */
const SKEW_MS = 5_000;
const LATE_SECONDS = 60;
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

function ofService([name, state]: [string, string]): Finding {
  const check = name.replaceAll('_', ' ');
  if (state === 'healthy' || state === 'skipped') return { level: 'pass', check, text: `is ${state}` };
  const setting = name === 'database' ? 'DATABASE_URL' : 'TEMPORAL_ADDRESS';
  return { level: 'fail', check, text: `is ${state}`, hint: `Is it running, and is ${setting} its address?` };
}

function ofClock({ skewMs }: Health): Finding[] {
  if (skewMs === null) return [];
  const text = `${duration(Math.abs(skewMs))} from the clock of this browser`;
  if (Math.abs(skewMs) <= SKEW_MS) return [{ level: 'pass', check: 'clock', text: 'agrees with that of this browser' }];
  return [{ level: 'warn', check: 'clock', text, hint: 'Synchronise both: webhook signatures and keys expire by it.' }];
}

function ofAuth({ auth_type: type }: Info, hostname: string): Finding {
  if (type !== 'none') return { level: 'pass', check: 'auth', text: `on (${type.replace('_', ' ')})` };
  if (LOOPBACK.includes(hostname)) return { level: 'pass', check: 'auth', text: 'off: for this machine alone' };
  return { level: 'fail', check: 'auth', text: 'off on a public address', hint: 'Set GANTRY_AUTH=on.' };
}

/** A delay in seconds, which is a finding from a minute on. */
function ofDelay(check: string, seconds: number | undefined, text: string, hint: string): Finding[] {
  if (seconds === undefined) return [];
  if (seconds <= LATE_SECONDS) return [{ level: 'pass', check, text: 'on time' }];
  return [{ level: 'warn', check, text: `${text} ${duration(seconds * 1000)}`, hint }];
}

function ofMetrics(metrics: Metrics): Finding[] {
  const workers = metricOf(metrics, 'gantry_workers');
  const one: Finding =
    workers === 0
      ? { level: 'fail', check: 'workers', text: 'none is polling', hint: 'Start one: runs wait until then.' }
      : { level: 'pass', check: 'workers', text: `${workers} polling` };
  return [
    ...(workers === undefined ? [] : [one]),
    ...ofDelay(
      'run queue',
      metricOf(metrics, 'gantry_run_queue_unblocked_age_seconds'),
      'a run that could begin has waited for',
      'Start more workers, or give them more slots.',
    ),
    ...ofDelay(
      'crons',
      metricOf(metrics, 'gantry_cron_overdue_seconds'),
      'a tick is overdue by',
      'Is a worker running, and does Temporal answer?',
    ),
  ];
}

/** Checks of `npm run doctor` that the API can answer for this caller. */
export function findingsOf(
  health: Health | undefined,
  metrics: Metrics | null | undefined,
  info: Info | undefined,
  hostname: string,
): Finding[] {
  return [
    ...(health ? [...Object.entries(health.services ?? {}).map(ofService), ...ofClock(health)] : []),
    ...(info ? [ofAuth(info, hostname)] : []),
    ...(metrics ? ofMetrics(metrics) : []),
  ];
}
