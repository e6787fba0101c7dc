import { tool } from '@langchain/core/tools';
import { interrupt, MemorySaver } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createHandoffTool, createSwarm } from '@langchain/langgraph-swarm';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';

const model = new ChatOpenAI({ model: 'gpt-4o' });

const add = tool(async ({ a, b }) => a + b, {
  name: 'add',
  description: 'Add two numbers.',
  schema: z.object({ a: z.number(), b: z.number() }),
});

const board = tool(async ({ ship }) => `${interrupt({ board: ship })}, ${ship}`, {
  name: 'board',
  description: 'Board a ship.',
  schema: z.object({ ship: z.string() }),
});

const alice = createReactAgent({
  llm: model,
  tools: [add, createHandoffTool({ agentName: 'Bob' })],
  name: 'Alice',
  prompt: 'You are Alice, an addition expert.',
});

const bob = createReactAgent({
  llm: model,
  tools: [board, createHandoffTool({ agentName: 'Alice', description: 'Transfer to Alice, she can help with math' })],
  name: 'Bob',
  prompt: 'You are Bob, you speak like a pirate.',
});

const checkpointer = new MemorySaver();
const workflow = createSwarm({ agents: [alice, bob], defaultActiveAgent: 'Alice' });

export const app = workflow.compile({ checkpointer });
