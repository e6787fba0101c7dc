import { useQuery } from '@tanstack/react-query';
import { assistantsQuery } from './assistants';

/** Id and name of each assistant, to choose one from. */
export function useAssistantOptions(): (readonly [id: string, name: string])[] {
  const { data = [] } = useQuery(assistantsQuery);
  return data.flatMap(({ assistant_id: id, name }) => (id ? [[id, name ?? id] as const] : []));
}
