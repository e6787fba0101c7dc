import { z } from 'zod';

const jsonObject = z.record(z.string(), z.unknown());
const send = z
  .object({
    node: z.string(),
    input: z.unknown().optional(),
    args: z.unknown().optional().describe('Another name of `input`, by which LangGraph writes a `Send`'),
  })
  .transform(({ node, input, args }) => ({ node, input: input === undefined ? args : input }));

/** A command of a client to a graph instead of an input: an answer, a change of the state, the node to continue at. */
export const commandSchema = z.object({
  update: z.union([jsonObject, z.array(z.tuple([z.string(), z.unknown()]))]).nullish(),
  resume: z.unknown().optional(),
  goto: z.union([z.string(), send, z.array(z.union([z.string(), send]))]).nullish(),
});
