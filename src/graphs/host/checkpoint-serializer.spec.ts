import { Document } from '@langchain/core/documents';
import {
  AIMessage,
  AIMessageChunk,
  BaseMessage,
  ChatMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { PromptTemplate } from '@langchain/core/prompts';
import { Overwrite, Send } from '@langchain/langgraph';
import { DeltaSnapshot, MemorySaver } from '@langchain/langgraph-checkpoint';
import { CheckpointSerializer } from './checkpoint-serializer';

const ours = new CheckpointSerializer();
const libraries = new MemorySaver().serde;

const through = async (value: unknown): Promise<unknown> => ours.loadsTyped(...(await ours.dumpsTyped(value)));
const loader = {
  ...{ lc: 1, type: 'constructor', kwargs: { dataset_name: 'd' } },
  id: ['langchain_core', 'document_loaders', 'langsmith', 'LangSmithLoader'],
};

const MESSAGES = [
  new HumanMessage({ content: 'hi', id: 'h', name: 'Ann' }),
  new SystemMessage('be kind'),
  new AIMessage({
    ...{ content: [{ type: 'text', text: 'sum' }], id: 'a', response_metadata: { model: 'm' } },
    tool_calls: [{ id: 'c', name: 'add', args: { a: 1, lc: 1 }, type: 'tool_call' }],
    usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 },
  }),
  new ToolMessage({ content: '3', tool_call_id: 'c', name: 'add', status: 'success', artifact: { sum: 3 } }),
  new AIMessageChunk({ content: 'to', id: 'p', tool_call_chunks: [{ name: 'add', args: '{', index: 0 }] }),
  new ChatMessage('said', 'critic'),
  new RemoveMessage({ id: 'h' }),
];

describe('CheckpointSerializer', () => {
  it('reads the messages that it wrote as instances of their classes', async () => {
    const read = (await through({ messages: MESSAGES })) as { messages: BaseMessage[] };
    expect(read.messages.map(({ constructor }) => constructor)).toEqual(MESSAGES.map(({ constructor }) => constructor));
    expect(read.messages.map((message) => message.toDict())).toEqual(MESSAGES.map((message) => message.toDict()));
    expect(read.messages[2].lc_kwargs).toEqual(MESSAGES[2].lc_kwargs);
  });

  it('stores a message of a user’s class as one of the library’s class that it extends', async () => {
    class Question extends HumanMessage {
      static override lc_name(): string {
        return 'Question';
      }
    }
    const read = await through(new Question('why?'));
    expect(read).toBeInstanceOf(HumanMessage);
    expect((read as HumanMessage).content).toBe('why?');
  });

  it('reads what LangGraph stores', async () => {
    const value = {
      set: new Set([1, 'a', { deep: new Set([2]) }]),
      map: new Map<unknown, unknown>([[{ key: 1 }, new HumanMessage('in a map')]]),
      expression: /a(b)/gi,
      bytes: new Uint8Array([0, 255]),
      error: new RangeError('too far'),
      nothing: undefined,
      list: [undefined, null, 1],
      snapshot: new DeltaSnapshot([new HumanMessage('kept')]),
      document: new Document({ pageContent: 'page', metadata: { lc: 1 }, id: 'd' }),
      date: new Date(0),
    };
    const read = (await through(value)) as Record<string, unknown>;
    expect(read).toEqual({ ...value, error: new Error('too far'), date: '1970-01-01T00:00:00.000Z' });
    expect(read.document).toBeInstanceOf(Document);
    expect(read.snapshot).toBeInstanceOf(DeltaSnapshot);
    expect('nothing' in read).toBe(true);
    expect(await through(undefined)).toBeUndefined();
    expect(await through(null)).toBeNull();
    expect(await through(new Uint8Array([1]))).toEqual(new Uint8Array([1]));
    expect(await through([new Send('node', { a: 1 }), new Overwrite([1])])).toEqual([
      { node: 'node', args: { a: 1 } },
      { __overwrite__: [1] },
    ]);
    expect(await through({ big: 2n ** 64n })).toEqual({ big: '18446744073709551616' });
  });

  it('distinguishes user data from its own markers', async () => {
    const data = JSON.parse(`[
      {"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"hi"}},
      {"lc":2,"type":"plain","entries":[["lc",2]]}, {"lc":2,"type":"undefined"}, {"lc":0,"__proto__":{"a":1}},
      {"__lc_escaped__":{"lc":1}}, {"__lc_escaped__":1,"lc":1}, {"__proto__":{"lc":1}}, {"lc":{"lc":{"lc":[]}}},
      {"lg_name":"Send","node":"n","args":1,"more":2}, {"lg_name":"DeltaSnapshot","value":1}, {"toDict":1,"lc_kwargs":{}}
    ]`) as unknown;
    const written = JSON.stringify(data);
    const [type, bytes] = await ours.dumpsTyped(data);
    expect(JSON.stringify(await ours.loadsTyped(type, bytes))).toBe(written);
    const inMessage = (await through(new HumanMessage({ content: '', additional_kwargs: { data } }))) as HumanMessage;
    expect(JSON.stringify(inMessage.additional_kwargs.data)).toBe(written);
  });

  it('encodes data of which an earlier release would make no object', async () => {
    const data = [loader, { lc: 1, inner: [loader] }, { __lc_escaped__: loader }];
    const [type, bytes] = await ours.dumpsTyped(data);
    const text = Buffer.from(bytes).toString();
    expect(JSON.stringify(await libraries.loadsTyped(type, bytes))).toBe(text);
    expect(await libraries.loadsTyped('json', Buffer.from(JSON.stringify(data)))).not.toEqual(data);
  });

  it('is compatible with the library in both directions', async () => {
    const state = { messages: MESSAGES, set: new Set([1]), nothing: undefined };
    const theirs = (await ours.loadsTyped(...(await libraries.dumpsTyped(state)))) as typeof state;
    expect(theirs.messages.map((message) => message.toDict())).toEqual(MESSAGES.map((message) => message.toDict()));
    expect(theirs.messages[2]).toBeInstanceOf(AIMessage);
    expect((theirs.messages[2] as AIMessage).tool_calls?.[0].args).toEqual({ a: 1, lc: 1 });
    expect(theirs.set).toEqual(state.set);
    const plain = { messages: [MESSAGES[0], MESSAGES[3]], set: new Set([1]) };
    const back = (await libraries.loadsTyped(...(await ours.dumpsTyped(plain)))) as typeof plain;
    expect(back.messages.map((message) => message.toDict())).toEqual(plain.messages.map((each) => each.toDict()));
    expect(back.set).toEqual(plain.set);
  });

  it('instantiates nothing else that an earlier release stored', async () => {
    const stored = [
      loader,
      { ...loader, id: ['langchain_core', 'load', 'serializable', 'constructor'] },
      { ...loader, id: ['langchain_core', 'messages', '__proto__'] },
      { ...loader, id: ['langchain_core', 'messages', 'HumanMessage'], kwargs: 'text' },
      { ...loader, id: ['mine', 'HumanMessage'] },
      { lc: 2, type: 'constructor', id: ['Function'], args: ['return 1'] },
      { lc: 2, type: 'constructor', id: ['RegExp'], args: ['(', 'g'] },
      { lc: 2, type: 'plain', entries: { a: 1 } },
    ];
    const before = JSON.stringify(stored);
    expect(JSON.stringify(await ours.loadsTyped('json', Buffer.from(before)))).toBe(before);
    expect([Object.name, Array.name]).toEqual(['Object', 'Array']);
  });

  it('stores the name of a prompt or a model, and none of its settings', async () => {
    const prompt = new PromptTemplate({
      ...{ template: '{secret}', inputVariables: [], partialVariables: { secret: 'canary' } },
    });
    const [, bytes] = await ours.dumpsTyped({ prompt });
    expect(Buffer.from(bytes).toString()).not.toContain('canary');
    expect(await through({ prompt })).toEqual({
      prompt: { lc: 1, type: 'not_implemented', id: ['langchain_core', 'prompts', 'prompt', 'PromptTemplate'] },
    });
  });
});
