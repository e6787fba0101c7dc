/**
 * @library @langchain/langgraph 1.7.3
 * @patch Adds a statement after a step's checkpoint in the module `pregel/loop`, in place of the one that some versions have there.
 * @why Before 1.4.8, `durability: 'sync'` waits for checkpoints only at the end of a run, and before 0.4 nothing does: the next step
 * begins while its checkpoint is being stored, and where that is refused, since the run was handed back or belongs to another
 * attempt, nodes run twice.
 * @upstream https://github.com/langchain-ai/langgraphjs: 1.4.8 waits after each step.
 * @remove When all supported versions wait.
 */

const CHECKPOINT =
  /(await this\._putCheckpoint\(\{\s*source: "loop",?[^;]*\}\);)(\s*if \(this\.durability === "sync"\) await this\._awaitCheckpointerPromises\(\);)?/;

/** Those of earlier steps have been waited for: a list that keeps them would be read from its start after each step. */
const FUNCTION = `
async function untilStored(promises) {
  await Promise.all(Array.isArray(promises) ? promises.splice(0) : promises);
}
`;

/** Lets a graph begin no step before the checkpoint of the last one is stored, unless it asks for another durability. */
export const storedSteps = {
  module: /\/@langchain\/langgraph\/dist\/pregel\/loop\.(cjs|js)$/,
  patch: (source: string): string =>
    CHECKPOINT.test(source)
      ? source.replace(
          CHECKPOINT,
          '$1 if ((this.durability ?? "sync") === "sync") await untilStored(this.checkpointerPromises);',
        ) + FUNCTION
      : source,
};
