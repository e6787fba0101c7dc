import { queryOptions, useQuery } from '@tanstack/react-query';
import { answerOf, api } from './client';
import type { paths } from './schema';

export type Assistant = paths['/assistants/search']['post']['responses'][200]['content']['application/json'][number];

const MOST = 1000;

/** Every assistant of the caller, by name: for lists to choose from and for names beside ids. */
export const assistantsQuery = queryOptions({
  queryKey: ['assistants'],
  queryFn: () =>
    answerOf(api.POST('/assistants/search', { body: { limit: MOST, sort_by: 'name', sort_order: 'asc' } })),
  staleTime: 15_000,
});

/** Name of an assistant, with its graph if that has another name. */
export function useAssistantName(): (assistantId: string) => string {
  const { data } = useQuery(assistantsQuery);
  return (assistantId) => {
    const found = data?.find(({ assistant_id }) => assistant_id === assistantId);
    if (!found) return assistantId.slice(0, 8);
    const name = found.name ?? found.graph_id;
    return name === found.graph_id || !found.graph_id ? (name ?? assistantId) : `${name} · ${found.graph_id}`;
  };
}
