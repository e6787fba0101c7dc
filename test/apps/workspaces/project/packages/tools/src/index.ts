import { tool } from '@langchain/core/tools';
import { z } from 'zod';

/** Of the workspace's own packages: its entry point is TypeScript, and its libraries are its own. */
export const shout = tool(({ text }: { text: string }) => `${text.toUpperCase()}!`, {
  name: 'shout',
  description: 'Says a text loudly',
  schema: z.object({ text: z.string() }),
});
