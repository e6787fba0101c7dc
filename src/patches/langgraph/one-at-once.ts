/**
 * @library @langchain/langgraph 1.7.3
 * @patch Replaces the two conditions of the loop that starts the tasks of a step, in the module `pregel/runner`, and appends a
 * function to it.
 * @why With `maxConcurrency` 1, the loop ends after the first task, as none is running at that moment: the step counts as
 * complete, and the results of all others are missing. With any limit, tasks whose turn comes after the run was aborted, or after
 * another task failed, aren't run but stored as ended: a later run continues without them.
 * @upstream None known.
 * @remove When the loop ends once all tasks were started and have ended, and starts none after an abort.
 */

const MORE =
  /\(startedTasksCount === 0 \|\| Object\.keys\(executingTasksMap\)\.length > 0\) &&\s+tasks\.length(?=\) \{)/;
const NEXT = /(\(maxConcurrency \?\? tasks\.length\) &&\s+startedTasksCount < tasks\.length)(?=;)/;

/** Throws only where nothing runs any longer, so that the results of all tasks that were started are kept. */
const FUNCTION = `
function mayStartTasks(signals) {
  if (signals?.externalAbortSignal?.aborted || signals?.timeoutAbortSignal?.aborted) throw new Error('Abort');
  return !signals?.composedAbortSignal?.aborted;
}
`;

let isComplete = true;

/** Whether all copies of the library that were loaded so far can limit how many tasks run at once without losing any. */
export const canLimitTasks = (): boolean => isComplete;

/** Lets a graph run all tasks of a step however few may run at once, in versions of the library that have the conditions. */
export const oneAtOnce = {
  module: /\/@langchain\/langgraph\/dist\/pregel\/runner\.(cjs|js)$/,
  patch: (source: string): string => {
    if (!MORE.test(source) || !NEXT.test(source)) {
      isComplete = false;
      return source;
    }
    const more =
      'Object.keys(executingTasksMap).length > 0 || (startedTasksCount < tasks.length && mayStartTasks(signals))';
    return source.replace(MORE, more).replace(NEXT, '$1 && !signals?.composedAbortSignal?.aborted') + FUNCTION;
  },
};
