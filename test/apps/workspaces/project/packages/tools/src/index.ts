import { tool } from '@langchain/core/tools';
import { z } from 'zod';

/** A package of the workspace with TypeScript as its entry point and libraries of its own. */
export const shout = tool(({ text }: { text: string }) => `${text.toUpperCase()}!`, {
  name: 'shout',
  description: 'Says a text loudly',
  schema: z.object({ text: z.string() }),
});
