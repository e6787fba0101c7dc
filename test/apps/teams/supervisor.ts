import { tool } from '@langchain/core/tools';
import { interrupt } from '@langchain/langgraph';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { createSupervisor } from '@langchain/langgraph-supervisor';
import { ChatOpenAI } from '@langchain/openai';
import { z } from 'zod';

const model = new ChatOpenAI({ model: 'gpt-4o' });

const add = tool(async ({ a, b }) => a + b, {
  name: 'add',
  description: 'Add two numbers.',
  schema: z.object({ a: z.number(), b: z.number() }),
});

const publish = tool(async ({ text }) => (interrupt({ publish: text }) === 'yes' ? `Published ${text}` : 'Discarded'), {
  name: 'publish',
  description: 'Publish a text.',
  schema: z.object({ text: z.string() }),
});

const mathAgent = createReactAgent({
  llm: model,
  tools: [add],
  name: 'math_expert',
  prompt: 'You are a math expert. Always use one tool at a time.',
});

const researchAgent = createReactAgent({
  llm: model,
  tools: [publish],
  name: 'research_expert',
  prompt: 'You are a world class researcher. Do not do any math.',
});

const workflow = createSupervisor({
  agents: [researchAgent, mathAgent],
  llm: model,
  prompt: 'You are a team supervisor managing a research expert and a math expert.',
});

export const app = workflow.compile();
