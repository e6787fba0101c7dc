import { queryOptions } from '@tanstack/react-query';
import { answerOf, api, send } from '../../api/client';
import { ApiFailure } from '../../api/failure';
import type { Info } from '../../api/info';
import type { paths } from '../../api/schema';
import { API_URL } from '../../app/base';
import { duration } from '../../ui/time';

export type Finding =
  paths['/system/findings']['get']['responses'][200]['content']['application/json']['findings'][number];

interface Health {
  ok: boolean;
  services?: Record<string, string>;
  /** Milliseconds by which the clock of the server is ahead of the browser's; null where the server names no time. */
  skewMs: number | null;
}

const HEALTH_MS = 5_000;
/** The checks write to the bucket, and their outcome changes rarely. */
const FINDINGS_MS = 30_000;
/** Signatures and expiry dates tolerate less than a minute; the Date header has whole seconds. */
const SKEW_MS = 5_000;
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

async function readHealth(): Promise<Health> {
  const begun = Date.now();
  // A service that is down is an answer as well, and no failure of the request.
  const response = await send(`${API_URL}/ok?check_db=1`);
  const date = response.headers.get('date');
  if (!response.headers.get('content-type')?.includes('json')) throw await ApiFailure.of(response);
  // The header has whole seconds: half a second is missing on average.
  const skewMs = date === null ? null : Date.parse(date) + 500 - (begun + Date.now()) / 2;
  return { ...((await response.json()) as Omit<Health, 'skewMs'>), skewMs };
}

export const healthQuery = queryOptions({
  queryKey: ['system', 'health'],
  queryFn: readHealth,
  refetchInterval: HEALTH_MS,
  retry: false,
});

/** Findings of the server about itself; null for callers who may not read them. */
async function readFindings(): Promise<Finding[] | null> {
  try {
    return (await answerOf(api.GET('/system/findings'))).findings;
  } catch (error) {
    if (error instanceof ApiFailure && (error.status === 401 || error.status === 403)) return null;
    throw error;
  }
}

export const findingsQuery = queryOptions({
  queryKey: ['system', 'findings'],
  queryFn: readFindings,
  refetchInterval: ({ state }) => (state.data === null ? false : FINDINGS_MS),
  retry: false,
});

function ofService([name, state]: [string, string]): Finding {
  const check = { name: name.replaceAll('_', ' '), detail: `is ${state}` };
  if (state === 'healthy' || state === 'skipped') return { ...check, state: 'ok', remedy: null };
  const setting = name === 'database' ? 'DATABASE_URL' : 'TEMPORAL_ADDRESS';
  return { ...check, state: 'failure', remedy: `Is it running, and is ${setting} its address?` };
}

/** Findings that only a browser can make: the address and the clock by which it reaches the server. */
function ofBrowser({ skewMs }: Health, info: Info | undefined, hostname: string): Finding[] {
  const findings: Finding[] = [];
  if (skewMs !== null && Math.abs(skewMs) <= SKEW_MS) {
    const detail = 'the clock of the server agrees with that of this browser';
    findings.push({ name: 'browser clock', state: 'ok', detail, remedy: null });
  } else if (skewMs !== null) {
    const detail = `the clock of the server differs by ${duration(Math.abs(skewMs))} from that of this browser`;
    const remedy = 'Synchronise both: webhook signatures and keys expire by it.';
    findings.push({ name: 'browser clock', state: 'warning', detail, remedy });
  }
  if (info?.auth_type === 'none' && !LOOPBACK.includes(hostname)) {
    const detail = `the server is reached as ${hostname}, and requires no key`;
    findings.push({ name: 'browser address', state: 'failure', detail, remedy: 'Set GANTRY_AUTH=on.' });
  }
  return findings;
}

/** All findings: those of the server or, for callers who may not read them, its health; and those of this browser. */
export function allFindings(
  ofServer: Finding[] | null | undefined,
  health: Health | undefined,
  info: Info | undefined,
  hostname: string,
): Finding[] {
  const services = Object.entries(health?.services ?? {}).map(ofService);
  return [...(ofServer ?? services), ...(health ? ofBrowser(health, info, hostname) : [])];
}
