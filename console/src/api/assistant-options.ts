import { whole } from '../ui/numbers';
import { MOST, useAssistants } from './assistants';

interface AssistantOptions {
  options: (readonly [id: string, name: string])[];
  /** Says that assistants are missing in a long list; undefined where none is. */
  hint: string | undefined;
}

/** Id and name of each assistant, to choose one from. @param chosen id of the one that is chosen already */
export function useAssistantOptions(chosen?: string): AssistantOptions {
  const { data = [], isCut } = useAssistants(chosen);
  return {
    options: data.flatMap(({ assistant_id: id, name }) => (id ? [[id, name ?? id] as const] : [])),
    hint: isCut ? `The first ${whole(MOST)} by name` : undefined,
  };
}
