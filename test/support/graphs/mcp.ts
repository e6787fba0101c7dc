import type { RunnableConfig } from '@langchain/core/runnables';
import { AIMessage } from '@langchain/core/messages';
import { END, interrupt, MessagesZodState, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';
import { pause } from './ledger-node';

// Graphs that the public MCP conformance suite calls by name; its wording is kept.

const State = z.object({
  text: z.string().default(''),
  /** Input of the suite's tools with arguments. */
  prompt: z.string().default(''),
  message: z.string().default(''),
});
type Values = z.infer<typeof State>;
type Node = (
  values: Values,
  config: RunnableConfig & { writer?: (chunk: unknown) => void },
) => Partial<Values> | Promise<Partial<Values>>;

/** A graph of one node. */
function single(node: Node) {
  return new StateGraph(State).addNode('work', node).addEdge(START, 'work').addEdge('work', END).compile();
}

export const simpleText = single(() => ({ text: 'This is a simple text response for testing.' }));

export const failing = single((): never => {
  throw new Error('This tool intentionally returns an error for testing');
});

export const progress = single(async (_, { writer, signal }) => {
  for (const done of [0, 50, 100]) {
    writer?.({ progress: done, total: 100 });
    await pause(50, signal);
  }
  return { text: 'done' };
});

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==';

const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const audio = { type: 'audio', data: SILENCE, mimeType: 'audio/wav' };
const resource = (uri: string, mimeType: string, text: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text },
});

/** Answers with blocks that are more than text. */
function saying(content: unknown[]) {
  return new StateGraph({ state: MessagesZodState, input: z.object({}) })
    .addNode('say', () => ({ messages: [new AIMessage({ content: content as never })] }))
    .addEdge(START, 'say')
    .addEdge('say', END)
    .compile();
}

export const imageContent = saying([image]);
export const audioContent = saying([audio]);
export const embeddedResource = saying([
  resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
]);
export const mixedContent = saying([
  { type: 'text', text: 'Multiple content types test:' },
  image,
  resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
]);

/** Asks the client in the protocol's terms; the answer becomes the text. */
function asking(inputRequests: Record<string, unknown>, prefix = '') {
  return single(() => ({ text: `${prefix}${JSON.stringify(interrupt({ inputRequests }))}` }));
}

const elicit = (message: string, properties: Record<string, unknown>, required?: string[]) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema: { type: 'object', properties, ...(required && { required }) } },
});
const sample = (text: string, maxTokens: number) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens },
});
const listRoots = { method: 'roots/list', params: {} };

const name = elicit('What is your name?', { name: { type: 'string' } }, ['name']);
const confirm = elicit('Please confirm', { ok: { type: 'boolean' } }, ['ok']);

export const askName = asking({ user_name: name });
export const askModel = asking({ capital_question: sample('What is the capital of France?', 100) });
export const askRoots = asking({ client_roots: listRoots });
export const askState = asking({ confirm }, 'state-ok ');
export const askAll = asking({ user_name: name, greeting: sample('Generate a greeting', 50), client_roots: listRoots });
export const askWhatIsAble = asking({ confirm, greeting: sample('Generate a greeting', 50) });
export const askSampling = asking({ greeting: sample('Generate a greeting', 50) });

export const askTwice = new StateGraph(State)
  .addNode('first', () => {
    const step1 = elicit('Step 1: What is your name?', { name: { type: 'string' } }, ['name']);
    return { text: JSON.stringify(interrupt({ inputRequests: { step1 } })) };
  })
  .addNode('second', ({ text }) => {
    const step2 = elicit('Step 2: What is your favorite color?', { color: { type: 'string' } }, ['color']);
    return { text: `${text} ${JSON.stringify(interrupt({ inputRequests: { step2 } }))}` };
  })
  .addEdge(START, 'first')
  .addEdge('first', 'second')
  .addEdge('second', END)
  .compile();

export const sampling = single(({ prompt }) => {
  const { model } = interrupt<unknown, { model: { content: { text: string } } }>({
    inputRequests: { model: sample(prompt, 100) },
  });
  return { text: `LLM response: ${model.content.text}` };
});

const account = {
  username: { type: 'string', description: "User's response" },
  email: { type: 'string', description: "User's email address" },
};

export const elicitation = single(({ message }) => {
  const answer = interrupt({ inputRequests: { user: elicit(message, account, ['username', 'email']) } });
  return { text: `User response: ${JSON.stringify(answer)}` };
});

export const elicitationDefaults = asking(
  {
    user: elicit('Please review and update the form fields with defaults', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }),
  },
  'Elicitation completed: ',
);

const titled = (titles: string[]) => titles.map((title, index) => ({ const: `value${index + 1}`, title }));
const options = ['option1', 'option2', 'option3'];

export const elicitationEnums = asking(
  {
    user: elicit('Please select options', {
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: titled(['First Option', 'Second Option', 'Third Option']) },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: titled(['First Choice', 'Second Choice', 'Third Choice']) } },
    }),
  },
  'Elicitation completed: ',
);

const Greeted = z.object({ name: z.string().default(''), messages: z.array(z.unknown()).default([]) });

/** Returns its answer, whatever else is in its state. */
export const greet = new StateGraph(Greeted)
  .addNode('say', ({ name }) => ({ messages: [new AIMessage(`Hello, ${name}!`)] }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile();

const Job = z.object({
  seconds: z.number().default(0),
  label: z.string().default(''),
  filename: z.string().default(''),
  text: z.string().default(''),
});
type JobValues = z.infer<typeof Job>;

function job(node: (values: JobValues, config: RunnableConfig) => Promise<Partial<JobValues>>) {
  return new StateGraph(Job).addNode('work', node).addEdge(START, 'work').addEdge('work', END).compile();
}

export const slowCompute = job(async ({ seconds, label }, { signal }) => {
  await pause(seconds * 1_000, signal);
  return { text: `computed ${label}` };
});

async function fail(name: string, signal: AbortSignal | undefined): Promise<never> {
  await pause(1_000, signal);
  throw Object.assign(new Error('This job fails'), { name });
}

export const failingJob = job((_, { signal }) => fail('Error', signal));
export const protocolErrorJob = job((_, { signal }) => fail('McpError', signal));

const goOn = elicit('Go on?', { confirm: { type: 'boolean' } }, ['confirm']);

export const confirmDelete = job(({ filename }) =>
  Promise.resolve({ text: `${filename}: ${JSON.stringify(interrupt({ inputRequests: { confirm: goOn } }))}` }),
);

/** Asks two things at once. */
export const multiInput = job(() =>
  Promise.resolve({ text: JSON.stringify(interrupt({ inputRequests: { first: goOn, second: goOn } })) }),
);

/** Asks first, and takes time afterwards. */
export const askThenWork = single(async (_, { signal }) => {
  const answer = JSON.stringify(interrupt({ inputRequests: { user_name: name } }));
  await pause(1_500, signal);
  return { text: answer };
});
