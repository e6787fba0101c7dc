/**
 * @library @langchain/langgraph 1.7.3
 * @patch Replaces the condition under which the end of a task without writes is stored, in the module `pregel/runner`.
 * @why Of a task that was answered and changes no state, only the answer is stored, as of one that asks a second time: while a
 * parallel task still waits, its question stays open, and the next run starts it once more.
 * @upstream LangGraph in Python has the new condition since 1.2.
 * @remove When the end of such a task is stored.
 */

const CONDITION = /if \(task\.writes\.length === 0\)(?=[\s{]+(?:\/\/.*\s+)?task\.writes\.push\(\[[\w.]*NO_WRITES\b)/;

/** Lets a graph store the end of a task whose only write is the answer that it got, in versions of the library that have the condition. */
export const answeredTasks = {
  module: /\/@langchain\/langgraph\/dist\/pregel\/runner\.(cjs|js)$/,
  patch: (source: string): string =>
    source.replace(CONDITION, 'if (task.writes.every(([channel]) => channel === "__resume__"))'),
};
