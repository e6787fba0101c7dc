import { tool } from '@langchain/core/tools';
import { createReactAgent } from '@langchain/langgraph/prebuilt';
import { z } from 'zod';
import { RuleBasedChatModel } from './rule-based-model.js';

const getWeather = tool(
  ({ city }) => {
    const degrees = 10 + ([...city].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 20);
    return `It is ${degrees} °C and clear in ${city}.`;
  },
  {
    name: 'get_weather',
    description: 'Current weather of a city',
    schema: z.object({ city: z.string().describe('Name of the city') }),
  },
);

const add = tool(({ a, b }) => `${a} + ${b} = ${a + b}.`, {
  name: 'add',
  description: 'Adds two numbers',
  schema: z.object({ a: z.number(), b: z.number() }),
});

type ChatModel = Parameters<typeof createReactAgent>[0]['llm'];

/** A real model as soon as there is a key for one, rules until then. */
async function chatModel(): Promise<ChatModel> {
  if (!process.env.OPENAI_API_KEY) return new RuleBasedChatModel({});
  const { ChatOpenAI } = await import('@langchain/openai');
  return new ChatOpenAI({ model: process.env.OPENAI_MODEL ?? 'gpt-4o-mini' });
}

export const graph = async () => createReactAgent({ llm: await chatModel(), tools: [getWeather, add], name: 'agent' });
