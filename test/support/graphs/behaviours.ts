import { existsSync } from 'node:fs';
import { AIMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import { tool } from '@langchain/core/tools';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import {
  Annotation,
  END,
  interrupt,
  MessagesAnnotation,
  MessagesZodState,
  START,
  StateGraph,
} from '@langchain/langgraph';
import { z } from 'zod';
import { pause, recordExecution } from './ledger-node';

const Blocking = z.object({
  block_ms: z.number().default(0),
  /** Whether the node computes all the time; otherwise the thread sleeps, and blocks its event loop without using a core. */
  busy: z.boolean().default(false),
  /** Path of a file whose existence ends the node, not before `block_ms`; empty: the time alone ends it. */
  until_file: z.string().default(''),
  /** Time that the node awaits afterwards, unless it is cancelled. */
  linger_ms: z.number().default(0),
  blocked_ms: z.number().default(0),
});

/** Blocks its thread's event loop, so that not even a timer fires. */
export const block = new StateGraph(Blocking)
  .addNode('spin', async ({ block_ms, busy, until_file, linger_ms }, config: RunnableConfig) => {
    const ended = await recordExecution('spin', config);
    const since = Date.now();
    const wait = (ms: number): void => {
      if (!busy) Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, ms);
    };
    wait(block_ms);
    while (Date.now() - since < block_ms || (until_file !== '' && !existsSync(until_file))) wait(50);
    await pause(linger_ms, config.signal);
    await ended();
    return { blocked_ms: Date.now() - since };
  })
  .addEdge(START, 'spin')
  .addEdge('spin', END)
  .compile({ name: 'block' });

const Failing = z.object({
  message: z.string().default('The tool is broken'),
  name: z.string().default('TypeError'),
  passed: z.boolean().default(false),
});

/** The first node writes, the second one throws. */
export const fail = new StateGraph(Failing)
  .addNode('pass', () => ({ passed: true }))
  .addNode('throw', ({ message, name }): Partial<z.infer<typeof Failing>> => {
    throw Object.assign(new TypeError(message), { name });
  })
  .addEdge(START, 'pass')
  .addEdge('pass', 'throw')
  .addEdge('throw', END)
  .compile({ name: 'fail' });

const Sleeping = z.object({ sleep_ms: z.number().default(0), note: z.string().default('') });

export const sleep = new StateGraph(Sleeping)
  .addNode('nap', async ({ sleep_ms, note }, config: RunnableConfig) => {
    const ended = await recordExecution('nap', config);
    await pause(sleep_ms, config.signal);
    await ended();
    return { note: `${note} slept` };
  })
  .addEdge(START, 'nap')
  .addEdge('nap', END)
  .compile({ name: 'sleep' });

const Asking = z.object({ question: z.string().default('Go on?'), answer: z.string().default('') });

export const ask = new StateGraph(Asking)
  .addNode('ask', ({ question }) => ({ answer: String(interrupt(question)) }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile({ name: 'ask' });

const AskingBoth = z.object({ first: z.string().default(''), second: z.string().default('') });

/** Two tasks ask at the same time. */
export const askBoth = new StateGraph(AskingBoth)
  .addNode('ask_first', () => ({ first: String(interrupt('First?')) }))
  .addNode('ask_second', () => ({ second: String(interrupt('Second?')) }))
  .addEdge(START, 'ask_first')
  .addEdge(START, 'ask_second')
  .addEdge('ask_first', END)
  .addEdge('ask_second', END)
  .compile({ name: 'ask_both' });

const Minding = z.object({ nap_ms: z.number().default(0), answer: z.string().default('') });

/** Asks in one node, beside another one that takes the time that its input requests. */
export const askBeside = new StateGraph(Minding)
  .addNode('ask', () => ({ answer: String(interrupt('Proceed?')) }))
  .addNode('nap', async ({ nap_ms }, config: RunnableConfig) => {
    await stay('nap', nap_ms, config);
    return {};
  })
  .addEdge(START, 'ask')
  .addEdge(START, 'nap')
  .addEdge('ask', END)
  .addEdge('nap', END)
  .compile({ name: 'ask_beside' });

const Inquiring = z.object({ request: z.record(z.string(), z.unknown()).default({}), answer: z.unknown().optional() });

/** Asks what its input requests: a question with a schema, or actions to review. */
export const inquire = new StateGraph(Inquiring)
  .addNode('ask', ({ request }) => ({ answer: interrupt<unknown, unknown>(request) }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile({ name: 'inquire' });

const Examining = z.object({ age: z.number().default(0) });

/** Asks until the answer is valid. */
export const examine = new StateGraph(Examining)
  .addNode('ask', () => {
    for (let question = 'How old are you?'; ;) {
      const answer = interrupt<string, unknown>(question);
      if (Number(answer) > 0) return { age: Number(answer) };
      question = `"${String(answer)}" is no age. How old are you?`;
    }
  })
  .addEdge(START, 'ask')
  .addEdge('ask', END)
  .compile({ name: 'examine' });

const Consenting = z.object({ answers: z.array(z.string()).default([]), nap_ms: z.number().default(0) });

interface Consent {
  says: string;
  /** Time that the node takes after this answer. */
  ask_ms?: number;
  /** Time that the node after it takes. */
  nap_ms?: number;
}

async function stay(node: string, ms: number, config: RunnableConfig): Promise<void> {
  const ended = await recordExecution(node, config);
  await pause(ms, config.signal);
  await ended();
}

/** Asks twice in one node. */
export const consent = new StateGraph(Consenting)
  .addNode('ask', async (_, config: RunnableConfig) => {
    const answers: Consent[] = [];
    for (const question of ['Begin?', 'Continue?']) {
      const answer = interrupt<string, Consent>(question);
      if (answer.ask_ms) await stay('ask', answer.ask_ms, config);
      answers.push(answer);
    }
    return { answers: answers.map(({ says }) => says), nap_ms: answers[1].nap_ms ?? 0 };
  })
  .addNode('nap', async ({ nap_ms }, config: RunnableConfig) => {
    await stay('nap', nap_ms, config);
    return {};
  })
  .addEdge(START, 'ask')
  .addEdge('ask', 'nap')
  .addEdge('nap', END)
  .compile({ name: 'consent' });

const Nested = z.object({ text: z.string().default('') });

const inner = new StateGraph(Nested)
  .addNode('shout', ({ text }) => ({ text: text.toUpperCase() }))
  .addEdge(START, 'shout')
  .addEdge('shout', END)
  .compile({ name: 'inner' });

export const nested = new StateGraph(Nested)
  .addNode('inner', inner)
  .addNode('finish', ({ text }) => ({ text: `${text}!` }))
  .addEdge(START, 'inner')
  .addEdge('inner', 'finish')
  .addEdge('finish', END)
  .compile({ name: 'nested' });

/** Answers one fixed sentence, one character per token. */
const model = new FakeListChatModel({ responses: ['one two three four five six seven eight nine ten'], sleep: 3 });

export const talk = new StateGraph(MessagesZodState)
  .addNode('say', async ({ messages }, config: RunnableConfig) => ({
    messages: [await model.invoke(messages, config)],
  }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile({ name: 'talk' });

const Custom = z.object({ count: z.number().default(3), bytes: z.number().default(0) });

/** Writes custom events: as large as its input requests, or with characters that need escaping. */
export const custom = new StateGraph(Custom)
  .addNode('write', ({ count, bytes }, config: RunnableConfig & { writer?: (chunk: unknown) => void }) => {
    const text = bytes > 0 ? 'x'.repeat(bytes) : 'a\nb\u2028c ✓';
    for (let index = 0; index < count; index += 1) config.writer?.({ index, text });
    return {};
  })
  .addEdge(START, 'write')
  .addEdge('write', END)
  .compile({ name: 'custom' });

const Seen = z.object({ seen: z.record(z.string(), z.unknown()).default({}) });

/** Returns the entries of its configuration that are named like headers. */
export const headers = new StateGraph(Seen)
  .addNode('look', (_state, { configurable = {} }: RunnableConfig) => ({
    // Without the values: a state is stored, and a header may be a secret.
    seen: Object.fromEntries(
      Object.entries(configurable)
        .filter(([name]) => /^(x-|authorization|cookie)/i.test(name))
        .map(([name, value]) => [name, String(value).length]),
    ),
  }))
  .addEdge(START, 'look')
  .addEdge('look', END)
  .compile({ name: 'headers' });

const Desk = Annotation.Root({ ...MessagesAnnotation.spec, approved: Annotation<boolean> });
const clerk = new FakeListChatModel({ responses: ['Your refund is on its way.'], sleep: 3 });

/** Asks a person before it answers, and talks. */
export const desk = new StateGraph(Desk)
  .addNode('approve', ({ messages }) => {
    const decision: unknown = interrupt({ question: 'Approve?', request: messages.at(-1)?.text });
    return { approved: decision === 'yes' || (decision as { approved?: boolean }).approved === true };
  })
  .addNode('answer', async ({ messages, approved }, config: RunnableConfig) => ({
    messages: [approved ? await clerk.invoke(messages, config) : new AIMessage('The refund was refused.')],
  }))
  .addEdge(START, 'approve')
  .addEdge('approve', 'answer')
  .addEdge('answer', END)
  .compile({ name: 'desk' });

/** Returns the content of the last message, block by block. */
export const echo = new StateGraph(MessagesZodState)
  .addNode('echo', ({ messages }) => ({ messages: [new AIMessage(JSON.stringify(messages.at(-1)?.content))] }))
  .addEdge(START, 'echo')
  .addEdge('echo', END)
  .compile({ name: 'echo' });

/** Answers with one word, unless a message says that it shall fail. */
export const curt = new StateGraph(MessagesZodState)
  .addNode('answer', ({ messages }) => {
    if (messages.at(-1)?.text === 'Fail') throw new Error('The model is away');
    return { messages: [new AIMessage('Fine')] };
  })
  .addEdge(START, 'answer')
  .addEdge('answer', END)
  .compile({ name: 'curt' });

const Untyped = Annotation.Root({ ...MessagesAnnotation.spec, mood: Annotation<string> });

/** Declares no schemas. */
export const untyped = new StateGraph(Untyped)
  .addNode('say', ({ mood }) => ({ messages: [new AIMessage(`I feel ${mood ?? 'nothing'}`)] }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile({ name: 'untyped' });

const Prose = Annotation.Root({ ...MessagesAnnotation.spec, words: Annotation<number>, letter_ms: Annotation<number> });

/** Streams text for as long as its input requests, one letter per token. */
export const prose = new StateGraph(Prose)
  .addNode('tell', async ({ messages, words = 60, letter_ms = 15 }, config: RunnableConfig) => {
    const ended = await recordExecution('tell', config);
    const text = Array.from({ length: words }, (_, index) => `w${index}`).join(' ');
    const model = new FakeListChatModel({ responses: [text], sleep: letter_ms });
    const answer = await model.invoke(messages, config);
    await ended();
    return { messages: [answer] };
  })
  .addEdge(START, 'tell')
  .addEdge('tell', END)
  .compile({ name: 'prose' });

const lookUp = tool(
  ({ city }) => {
    if (city === 'Atlantis') throw new RangeError('There is no such city');
    return `Rain in ${city}`;
  },
  { name: 'look_up', description: 'The weather of a city', schema: z.object({ city: z.string() }) },
);

const Toolbox = z.object({ city: z.string().default('Oslo'), weather: z.string().default('') });

/** Calls a tool, as an agent's node would. */
export const toolbox = new StateGraph(Toolbox)
  .addNode('work', async ({ city }, config: RunnableConfig) => {
    const call = { type: 'tool_call' as const, id: `call-${city}`, name: 'look_up', args: { city } };
    const { text } = await lookUp.invoke(call, config);
    return { weather: text };
  })
  .addEdge(START, 'work')
  .addEdge('work', END)
  .compile({ name: 'toolbox' });
