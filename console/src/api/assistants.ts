import { queryOptions, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { answerOf, api } from './client';
import type { paths } from './schema';

export type Assistant = paths['/assistants/search']['post']['responses'][200]['content']['application/json'][number];

/** Maximum number of assistants that are read to choose from. */
export const MOST = 1000;

/** Every assistant of the caller, by name: for lists to choose from and for names beside ids. */
export const assistantsQuery = queryOptions({
  queryKey: ['assistants'],
  queryFn: () =>
    answerOf(api.POST('/assistants/search', { body: { limit: MOST, sort_by: 'name', sort_order: 'asc' } })),
  staleTime: 15_000,
});

/** An assistant by its id, or the one that the server has made for the graph of that name. */
const assistantQuery = (address: string) =>
  queryOptions({
    queryKey: ['assistants', 'addressed', address],
    queryFn: () => answerOf(api.GET('/assistants/{assistant_id}', { params: { path: { assistant_id: address } } })),
  });

/** The graphs for which the server has made an assistant. */
export const graphsQuery = queryOptions({
  queryKey: ['assistants', 'graphs'],
  queryFn: async () => {
    const body = { metadata: { created_by: 'system' }, select: ['graph_id' as const], limit: MOST };
    const made = await answerOf(api.POST('/assistants/search', { body }));
    return made.flatMap(({ graph_id: graph }) => graph ?? []);
  },
  staleTime: 15_000,
});

/** Assistants to choose from: the first ones by name, and the one that is chosen already. */
export function useAssistants(chosen?: string) {
  const { data: listed, error, refetch } = useQuery(assistantsQuery);
  const isCut = listed?.length === MOST;
  const isMissing = isCut && chosen !== undefined && !listed.some(({ assistant_id: id }) => id === chosen);
  const { data: other, isLoading } = useQuery({ ...assistantQuery(chosen ?? ''), enabled: isMissing });
  const data = useMemo(() => {
    if (!listed || isLoading) return undefined;
    const isNew = isMissing && other && !listed.some(({ assistant_id: id }) => id === other.assistant_id);
    return isNew ? [...listed, other] : listed;
  }, [listed, isLoading, isMissing, other]);
  return { data, isCut, error, refetch };
}

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
