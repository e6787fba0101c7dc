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

const PLACEHOLDER = /\{\{\s*([\w-]+)\s*\}\}/g;

/** A text with its placeholders `{{name}}` replaced by arguments; those without an argument become empty. */
export function fillIn(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(PLACEHOLDER, (_, name: string) => values.get(name) ?? '');
}

const promptSchema = z
  .strictObject({
    name: z.string().regex(/^[\w.-]{1,64}$/, 'must have up to 64 letters, digits, dots, hyphens and underscores'),
    title: z.string().optional(),
    description: z.string().optional(),
    arguments: z
      .array(
        z.strictObject({
          name: z.string().regex(/^[\w-]+$/, 'must have letters, digits, hyphens and underscores only'),
          description: z.string().optional(),
          required: z.boolean().default(false),
        }),
      )
      .default([]),
    messages: z
      .array(z.strictObject({ role: z.enum(['user', 'assistant']).default('user'), content: z.string().min(1) }))
      .min(1),
  })
  .superRefine(({ arguments: declared, messages }, context) => {
    const names = new Set(declared.map(({ name }) => name));
    messages.forEach(({ content }, index) => {
      for (const [, name] of content.matchAll(PLACEHOLDER)) {
        if (names.has(name)) continue;
        const message = `{{${name}}} is no argument of the prompt`;
        context.addIssue({ code: 'custom', path: ['messages', index, 'content'], message });
      }
    });
  });

/** A text for users to choose in their client, with arguments. */
export type GraphPrompt = z.infer<typeof promptSchema>;

/** `mcp` of a graph in langgraph.json, which may also declare prompts and resources. */
export const graphMcpSectionSchema = graphMcpSchema.extend({
  prompts: z.array(promptSchema).optional(),
  resources: z
    .strictObject({
      /** Whether the threads of the graph can be read. */
      threads: z.boolean().default(false),
      /** Namespaces of the store, as lists of labels, of which all items below can be read. */
      store: z.array(z.array(z.string().min(1)).min(1)).default([]),
    })
    .optional(),
});

export type GraphMcpSection = z.infer<typeof graphMcpSectionSchema>;
