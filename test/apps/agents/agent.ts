import { ChatOpenAI } from '@langchain/openai';
import { StreamChannel } from '@langchain/langgraph';
import { createAgent, humanInTheLoopMiddleware, tool, toolStrategy } from 'langchain';
import { z } from 'zod';

const model = new ChatOpenAI({ model: 'gpt-4.1-mini' });

const getWeather = tool(({ city }) => `Sunny in ${city}`, {
  name: 'get_weather',
  description: 'The weather in a city',
  schema: z.object({ city: z.string() }),
});

const sendMail = tool(({ to }) => `Sent to ${to}`, {
  name: 'send_mail',
  description: 'Sends a mail',
  schema: z.object({ to: z.string(), text: z.string() }),
});

/** Reports each tool call to clients, on a channel of its own. */
const toolNames = () => {
  const calls = StreamChannel.remote<string>('calls');
  return {
    init: () => ({ calls }),
    process(event: { method: string; params: { data: unknown } }) {
      const data = event.params.data as { event?: string; tool_name?: string };
      if (event.method === 'tools' && data.event === 'tool-started') calls.push(data.tool_name!);
      return true;
    },
  };
};

export const agent = createAgent({
  model,
  tools: [getWeather, sendMail],
  systemPrompt: 'You are a helpful assistant.',
  middleware: [
    humanInTheLoopMiddleware({
      interruptOn: { send_mail: { allowedDecisions: ['approve', 'edit', 'reject'] } },
    }),
  ],
  streamTransformers: [toolNames],
});

/** Puts its answer into a channel that checkpoints leave out. */
export const structured = createAgent({
  model,
  tools: [],
  responseFormat: toolStrategy(z.object({ city: z.string() }), { toolMessageContent: 'Noted' }),
});

/** Factory of the graph, called for each use. */
export const later = async () => createAgent({ model, tools: [getWeather] });

export const notAGraph = { name: 'agent' };
export const unfinished = () => ({ model });
