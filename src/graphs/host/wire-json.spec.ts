import { AIMessage, AIMessageChunk, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { ChatPromptValue } from '@langchain/core/prompt_values';
import { PromptTemplate } from '@langchain/core/prompts';
import { toWireJson } from './wire-json';

const wire = (value: unknown, piece?: unknown): unknown => JSON.parse(toWireJson(value, piece));

describe('toWireJson', () => {
  it('writes messages flat, with a type that clients know', () => {
    expect(wire([new HumanMessage({ content: 'hi', id: '1' }), new SystemMessage('be kind')])).toEqual([
      expect.objectContaining({ type: 'human', content: 'hi', id: '1' }),
      expect.objectContaining({ type: 'system', content: 'be kind' }),
    ]);
    const call = { id: 'c', name: 'add', args: { a: 1 }, type: 'tool_call' as const };
    expect(wire(new AIMessage({ content: '', tool_calls: [call] }))).toMatchObject({ type: 'ai', tool_calls: [call] });
    expect(wire(new ToolMessage({ content: '3', tool_call_id: 'c', name: 'add' }))).toMatchObject({
      type: 'tool',
      tool_call_id: 'c',
      name: 'add',
    });
  });

  it('distinguishes a piece of a message from a complete one of the same class', () => {
    const piece = new AIMessageChunk({ content: 'to', id: '1' });
    expect(wire(piece)).toMatchObject({ type: 'ai', content: 'to' });
    const whole = new AIMessageChunk({ content: 'before', id: '0' });
    expect(wire([piece, { input: [whole] }], piece)).toEqual([
      expect.objectContaining({ type: 'AIMessageChunk', content: 'to' }),
      { input: [expect.objectContaining({ type: 'ai', content: 'before' })] },
    ]);
    const answer = new AIMessage('whole');
    expect(wire(answer, answer)).toMatchObject({ type: 'ai' });
  });

  it('finds messages wherever they are nested', () => {
    const nested = { a: { b: [{ message: new HumanMessage('deep') }] }, m: new Map([['k', new HumanMessage('map')]]) };
    expect(wire(nested)).toMatchObject({
      a: { b: [{ message: { type: 'human', content: 'deep' } }] },
      m: { k: { type: 'human', content: 'map' } },
    });
  });

  it('writes the fields of a message as they were given', () => {
    const data = { lc: 1, type: 'constructor', id: ['x'], kwargs: {}, __lc_escaped__: { lc: 2 } };
    const message = new AIMessage({ content: 'hi', additional_kwargs: { data }, usage_metadata: undefined });
    expect(wire(message)).toEqual({
      ...{ type: 'ai', content: 'hi', additional_kwargs: { data }, response_metadata: {} },
      ...{ tool_calls: [], invalid_tool_calls: [] },
    });
  });

  it('names a prompt or a model, and shows none of its settings', () => {
    const prompt = new PromptTemplate({
      ...{ template: '{secret}', inputVariables: [], partialVariables: { secret: 'canary' } },
    });
    expect(wire({ prompt })).toEqual({
      prompt: { lc: 1, type: 'not_implemented', id: ['langchain_core', 'prompts', 'prompt', 'PromptTemplate'] },
    });
    expect(wire(new ChatPromptValue([new HumanMessage('hi')]))).toMatchObject({
      kwargs: { messages: [{ type: 'human', content: 'hi' }] },
    });
  });

  it('names errors without their stack', () => {
    expect(wire({ error: new TypeError('no') })).toEqual({ error: { error: 'TypeError', message: 'no' } });
  });

  it('writes values that JSON cannot represent', () => {
    const value = { big: 2n ** 64n, map: new Map([['a', 1]]), set: new Set([1, 2]), date: new Date(0), nan: NaN };
    expect(wire(value)).toEqual({
      big: '18446744073709551616',
      map: { a: 1 },
      set: [1, 2],
      date: '1970-01-01T00:00:00.000Z',
      nan: null,
    });
    expect(wire({ f: () => 1, s: Symbol('s'), u: undefined })).toEqual({});
    expect(toWireJson(undefined)).toBe('null');
    expect(toWireJson(() => 1)).toBe('null');
  });

  it('cuts cycles, and no other repeated reference', () => {
    const cycle: Record<string, unknown> = { name: 'root', list: [] };
    cycle.self = cycle;
    (cycle.list as unknown[]).push({ back: cycle });
    expect(wire(cycle)).toEqual({ name: 'root', self: '[Circular]', list: [{ back: '[Circular]' }] });
    const shared = { value: 1 };
    expect(wire({ a: shared, b: { c: shared }, d: [shared, shared] })).toEqual({
      a: { value: 1 },
      b: { c: { value: 1 } },
      d: [{ value: 1 }, { value: 1 }],
    });
  });

  it('uses toJSON where a value has one, and finds messages in its result', () => {
    const own = { toJSON: (key: string) => ({ key, messages: [new HumanMessage('said')] }) };
    expect(wire({ field: own, list: [own] })).toEqual({
      field: { key: 'field', messages: [expect.objectContaining({ type: 'human', content: 'said' })] },
      list: [{ key: '0', messages: [expect.objectContaining({ type: 'human', content: 'said' })] }],
    });
    const self: object = { toJSON: () => ({ self }) };
    expect(wire(self)).toEqual({ self: '[Circular]' });
    const same = { value: 2n, toJSON: () => same };
    expect(wire({ same })).toEqual({ same: { value: '2' } });
    expect(wire({ number: { toJSON: () => 2n }, gone: { toJSON: () => undefined } })).toEqual({ number: '2' });
  });

  it('leaves the value itself unchanged, and keeps every key', () => {
    const message = new HumanMessage('hi');
    const state = JSON.parse('{"list":[{"__proto__":{"big":1},"constructor":2}]}') as {
      list: Record<string, unknown>[];
    };
    const value = { state, messages: [message], deep: { date: new Date(0) } };
    const text = toWireJson(value);
    expect(value.messages[0]).toBe(message);
    expect(value.deep.date).toBeInstanceOf(Date);
    expect(text).toContain('{"__proto__":{"big":1},"constructor":2}');
    const odd = Object.defineProperty({ plain: 1 }, '__proto__', { value: 2n ** 64n, enumerable: true });
    expect(toWireJson(odd)).toBe('{"plain":1,"__proto__":"18446744073709551616"}');
  });

  it('contains no raw line break, so that it is one line of an event stream', () => {
    const text = toWireJson({ text: 'a\nb\r\nc\u2028d' });
    expect(text).not.toMatch(/[\n\r]/);
    expect(JSON.parse(text)).toEqual({ text: 'a\nb\r\nc\u2028d' });
  });
});
