/**
 * @library @langchain/langgraph 1.7.3
 * @patch Replaces the condition of the loop that starts the tasks of a step, in the module `pregel/runner`.
 * @why With `maxConcurrency` 1, the loop ends after the first task, as none is running at that moment: the step counts as
 * complete, and the results of all others are missing.
 * @upstream None known.
 * @remove When the loop ends once all tasks were started and have ended.
 */

const CONDITION = '(startedTasksCount === 0 || Object.keys(executingTasksMap).length > 0) && tasks.length';

/** Lets a graph run all tasks of a step one after the other, in versions of the library that have the condition. */
export const oneAtOnce = {
  module: /\/@langchain\/langgraph\/dist\/pregel\/runner\.(cjs|js)$/,
  patch: (source: string): string =>
    source.replace(CONDITION, 'startedTasksCount < tasks.length || Object.keys(executingTasksMap).length > 0'),
};
