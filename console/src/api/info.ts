import { queryOptions, useQuery } from '@tanstack/react-query';
import { answerOf, api } from './client';
import type { components, paths } from './schema';

export type Info = paths['/info']['get']['responses'][200]['content']['application/json'];
export type Schemas = components['schemas'];

export const infoQuery = queryOptions({
  queryKey: ['info'],
  queryFn: () => answerOf(api.GET('/info')),
  staleTime: 60_000,
});

/** Version and features of the server; undefined until it has answered. */
export const useInfo = (): Info | undefined => useQuery(infoQuery).data;

/** Address of a workflow in Temporal's web UI; undefined if the server doesn't know it. */
export function useTemporalLink(workflowId: string): string | undefined {
  const ui = useInfo()?.temporal_ui;
  return ui ? `${ui}/workflows/${encodeURIComponent(workflowId)}` : undefined;
}

/**
 * Address of a search in Temporal's web UI for the workflow of a run, which a run that ends within seconds doesn't have; undefined
 * if the server doesn't know it.
 */
export function useTemporalSearch(runId: string | undefined): string | undefined {
  const ui = useInfo()?.temporal_ui;
  return ui && runId ? `${ui}/workflows?query=${encodeURIComponent(`WorkflowId="run-${runId}"`)}` : undefined;
}
