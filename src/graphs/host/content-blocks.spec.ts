import { convertChunksToEvents } from '@langchain/core/language_models/compat';
import {
  AIMessage,
  AIMessageChunk,
  type AIMessageChunkFields,
  HumanMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { ChatGenerationChunk } from '@langchain/core/outputs';
import type { Chunk } from './chunk-facts';
import { ContentBlocks } from './content-blocks';

const NODE = 'model:1';
const usage = (input: number, output: number) => ({
  input_tokens: input,
  output_tokens: output,
  total_tokens: input + output,
});
const call = (index: number, args: string, first: object = {}) => ({
  type: 'tool_call_chunk' as const,
  index,
  args,
  ...first,
});

const chunkOf = (message: unknown): Chunk => [[NODE], 'messages', [message, { langgraph_node: 'model' }]];
const piecesOf = (fields: AIMessageChunkFields[]) => fields.map((each) => new AIMessageChunk({ id: 'm1', ...each }));

/** The events of chunks and of the end of their task, without what clients get beside them. */
function eventsOf(chunks: Chunk[]): object[] {
  const blocks = new ContentBlocks();
  const ended: Chunk = [[], 'tasks', { id: '1', name: 'model', result: {} }];
  const emitted = [...chunks, ended].flatMap((chunk) => [...blocks.next(chunk)]);
  expect(emitted.at(-1)).toBe(ended);
  expect([...blocks.rest()]).toEqual([]);
  return emitted.slice(0, -1).map(([namespace, mode, data]) => {
    expect([namespace, mode]).toEqual([[NODE], 'messages']);
    return (data as [object])[0];
  });
}

/** What newer versions of the library make of the same pieces. */
async function newerEventsOf(pieces: AIMessageChunk[]): Promise<object[]> {
  async function* stream() {
    for (const message of pieces) yield await Promise.resolve(new ChatGenerationChunk({ message, text: '' }));
  }
  const events: object[] = [];
  for await (const event of convertChunksToEvents(stream())) {
    // Usage is said at the end as well; nothing reads it before.
    if (event.event !== 'usage') events.push(event);
  }
  return events;
}

const withoutDetails = (events: object[]): object[] =>
  events.map((event) => {
    const { role: _role, ...rest } = event as Record<string, unknown>;
    if (rest.event === 'message-start') delete rest.usage;
    const { index: _index, ...content } = (rest.content ?? {}) as Record<string, unknown>;
    return 'content' in rest ? { ...rest, content } : rest;
  });

describe('content blocks for an older LangGraph', () => {
  it.each<[string, AIMessageChunkFields[]]>([
    ['a text', [{ content: 'Hel' }, { content: '' }, { content: 'lo', usage_metadata: usage(3, 2) }]],
    [
      'a text in parts',
      [{ content: [{ type: 'text', text: 'a', index: 0 }] }, { content: [{ type: 'text', text: 'b', index: 0 }] }],
    ],
    [
      'calls of tools, whose arguments come piece by piece',
      [
        { content: '', tool_call_chunks: [call(0, '', { id: 'c1', name: 'find' })] },
        { content: '', tool_call_chunks: [call(0, '{"city":')] },
        { content: '', tool_call_chunks: [call(0, '"Bern"}')] },
        { content: '', tool_call_chunks: [call(1, '{"half', { id: 'c2', name: 'find' })], usage_metadata: usage(1, 1) },
        { content: '', usage_metadata: usage(0, 4) },
      ],
    ],
    [
      'thoughts before an answer',
      [
        { content: [{ type: 'reasoning', reasoning: 'hm', index: 0 }] },
        { content: [{ type: 'reasoning', reasoning: ', yes', index: 0 }] },
        { content: [{ type: 'text', text: 'Yes', index: 1 }] },
      ],
    ],
  ])('equal those of a newer one: %s', async (_, fields) => {
    const pieces = piecesOf(fields);
    const own = withoutDetails(eventsOf(pieces.map(chunkOf)));
    const newer = withoutDetails(await newerEventsOf(pieces));
    // The library repeats the first part inside the block's start, where a client would read it twice with the delta.
    expect(textsOf(own)).toEqual(textsOf(newer));
    expect(own.filter(isFrame)).toEqual(newer.filter(isFrame));
  });

  it('name the reasoning of Anthropic’s models as the protocol does, and leave out the raw parts of calls', () => {
    const events = eventsOf(
      piecesOf([
        { content: [{ type: 'thinking', thinking: 'so', index: 0 }] },
        { content: [{ type: 'thinking', thinking: '!', index: 0 }] },
        {
          content: [{ type: 'tool_use', id: 'c1', name: 'find', input: '', index: 1 }],
          tool_call_chunks: [call(1, '{}', { id: 'c1', name: 'find' })],
        },
      ]).map(chunkOf),
    );
    expect(events.map((event) => (event as { content?: object }).content).filter(Boolean)).toEqual([
      { type: 'reasoning', reasoning: '', index: 0 },
      { type: 'tool_call_chunk', id: 'c1', name: 'find', args: '' },
      { type: 'reasoning', reasoning: 'so!', index: 0 },
      { type: 'tool_call', id: 'c1', name: 'find', args: {} },
    ]);
  });

  it.each(['constructor', 'toString', '__proto__'])(
    'pass on a block whose type is a name of every object: %s',
    (type) => {
      const pieces = [1, 2].map(
        (value) => ({ content: [{ type, value, index: 0 }] }) as unknown as AIMessageChunkFields,
      );
      const events = eventsOf(piecesOf(pieces).map(chunkOf));
      expect(events.at(-2)).toEqual({
        event: 'content-block-finish',
        index: 0,
        content: { type, value: 2, index: 0 },
      });
    },
  );

  it('are made of messages that were not streamed, except those of tools', () => {
    const events = eventsOf([
      chunkOf(new HumanMessage({ id: 'h', content: 'hi' })),
      chunkOf(new ToolMessage({ id: 't', content: 'found', tool_call_id: 'c1' })),
      chunkOf(new AIMessage({ id: 'a', content: [{ type: 'image_url', image_url: 'data:,x' }] })),
    ]);
    expect(events).toEqual([
      { event: 'message-start', role: 'human', id: 'h' },
      { event: 'content-block-start', index: 0, content: { type: 'text', text: '' } },
      { event: 'content-block-delta', index: 0, delta: { type: 'text-delta', text: 'hi' } },
      { event: 'content-block-finish', index: 0, content: { type: 'text', text: 'hi' } },
      { event: 'message-finish', reason: 'stop' },
      { event: 'message-start', role: 'ai', id: 'a' },
      { event: 'content-block-start', index: 0, content: { type: 'image_url', image_url: 'data:,x' } },
      { event: 'content-block-finish', index: 0, content: { type: 'image_url', image_url: 'data:,x' } },
      { event: 'message-finish', reason: 'stop' },
    ]);
  });

  it('distinguish two messages of one node, and end with the run when their task does not end', () => {
    const blocks = new ContentBlocks();
    const pieces = ['a', 'b', 'a'].map((id) => chunkOf(new AIMessageChunk({ id, content: id })));
    const emitted = [...pieces.flatMap((chunk) => [...blocks.next(chunk)]), ...blocks.rest()];
    const seen = emitted.map(([, , data]) => {
      const [{ event }, { run_id }] = data as [{ event: string }, { run_id: string }];
      return `${run_id} ${event.replace('content-block-', '')}`;
    });
    expect(seen.filter((line) => line.startsWith('a'))).toEqual([
      ...['a message-start', 'a start', 'a delta', 'a delta', 'a finish', 'a message-finish'],
    ]);
    expect(seen.filter((line) => line.startsWith('b'))).toHaveLength(5);
  });
});

function isFrame(event: object): boolean {
  return !/start|delta/.test((event as { event: string }).event);
}

/** What a client puts together from the deltas, by block. */
function textsOf(events: object[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const event of events as { event: string; index: number; delta?: object; content?: object }[]) {
    const started = event.event === 'content-block-start' ? event.content : undefined;
    const { text, reasoning, args } = (event.delta ?? started ?? {}) as Record<string, string | undefined>;
    if (event.delta ?? started) texts[event.index] = (texts[event.index] ?? '') + (text ?? reasoning ?? args ?? '');
  }
  return texts;
}
