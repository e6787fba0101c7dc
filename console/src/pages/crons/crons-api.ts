import { queryOptions } from '@tanstack/react-query';
import type { Schemas } from '../../api/info';
import { getJson, getPage, searchPage, sendJson } from '../../api/json';

export type Cron = Schemas['Cron'];
export type CronRun = Schemas['CronRun'];
export type Backfill = Schemas['CronBackfill'];

const PAGE_SIZE = 100;

export const listCrons = (offset: number) =>
  searchPage<Cron>('/runs/crons/search', { limit: PAGE_SIZE, offset, sort_by: 'created_at', sort_order: 'desc' });
export const cronQuery = (id: string) =>
  queryOptions({
    queryKey: ['crons', id],
    queryFn: () => getJson<Cron>(`/runs/crons/${id}`),
    refetchInterval: 5_000,
  });
export const listCronRuns = (id: string, offset: number) =>
  getPage<CronRun>(`/runs/crons/${id}/runs`, { limit: PAGE_SIZE, offset });
export const createCron = (body: object) => sendJson<Cron>('POST', '/runs/crons', body);
export const pauseCron = (id: string, reason: string) =>
  sendJson('POST', `/runs/crons/${id}/pause`, reason ? { reason } : {});
export const resumeCron = (id: string) => sendJson('POST', `/runs/crons/${id}/resume`);
export const triggerCron = (id: string) => sendJson<CronRun>('POST', `/runs/crons/${id}/trigger`);
export const backfillCron = (id: string, start: string, end: string) =>
  sendJson<Backfill>('POST', `/runs/crons/${id}/backfill`, { start, end });
export const deleteCron = (id: string) => sendJson('DELETE', `/runs/crons/${id}`);
