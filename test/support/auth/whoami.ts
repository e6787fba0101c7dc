import type { RunnableConfig } from '@langchain/core/runnables';
import { Annotation, END, START, StateGraph } from '@langchain/langgraph';

const State = Annotation.Root({ said: Annotation<string>(), user: Annotation<unknown>() });

/** Returns the user from its config. */
function whoami(_state: typeof State.State, config: RunnableConfig): Partial<typeof State.State> {
  const { langgraph_auth_user, langgraph_auth_user_id, langgraph_auth_permissions, user_id } =
    config.configurable ?? {};
  return { user: { langgraph_auth_user, langgraph_auth_user_id, langgraph_auth_permissions, user_id } };
}

export const graph = new StateGraph(State)
  .addNode('whoami', whoami)
  .addEdge(START, 'whoami')
  .addEdge('whoami', END)
  .compile();
