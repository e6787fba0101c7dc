import { z } from 'zod';

/** How a graph is a tool of the MCP server: `mcp` beside its `path` in langgraph.json, or in an assistant's metadata. */
export const graphMcpSchema = z.looseObject({
  /**
   * Whether calls become tasks: `optional` for clients that declare tasks, `required` for these clients only, `forbidden` for none.
   */
  tasks: z.enum(['optional', 'required', 'forbidden']).optional(),
  /**
   * Where the first question of a call that becomes a task is asked: by the task, or by the call, which becomes a task with the
   * answer.
   */
  questions: z.enum(['task', 'call']).optional(),
  /** Text of a result: all of the output as JSON, or what the agent said last. */
  text: z.enum(['output', 'answer']).optional(),
});

export type GraphMcp = z.infer<typeof graphMcpSchema>;
