import { ChatAnthropic } from '@langchain/anthropic';
import type { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { ChatOpenAI } from '@langchain/openai';
import { createDeepAgent } from 'deepagents';
import { tool } from 'langchain';
import { z } from 'zod';

const lookUp = tool(({ topic }) => `${topic}: 42`, {
  name: 'look_up',
  description: 'Looks a topic up',
  schema: z.object({ topic: z.string() }),
});

const publish = tool(({ title }) => `Published ${title}`, {
  name: 'publish',
  description: 'Publishes a report',
  schema: z.object({ title: z.string() }),
});

const researcherWith = (model: BaseChatModel) =>
  createDeepAgent({
    model,
    tools: [lookUp, publish],
    systemPrompt: 'You research things.',
    subagents: [{ name: 'reader', description: 'Reads sources', systemPrompt: 'You read sources.', tools: [lookUp] }],
    interruptOn: { publish: true },
  });

export const researcher = researcherWith(new ChatOpenAI({ model: 'gpt-4.1-mini' }));
export const responsesResearcher = researcherWith(new ChatOpenAI({ model: 'gpt-4.1-mini', useResponsesApi: true }));
export const claudeResearcher = researcherWith(new ChatAnthropic({ model: 'claude-sonnet-4-5' }));
