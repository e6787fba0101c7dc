import { toToolResult } from './tool-result';

const FORM = { knowsStructure: true, textIsAnswer: false };

const media = (content: unknown): unknown[] =>
  toToolResult({ messages: [{ type: 'ai', content }] }, FORM).content.slice(1);

describe('the result of a tool', () => {
  it('is the output as JSON text, and the same as structured content', () => {
    const output = { text: 'it’s', none: null, list: [true] };
    expect(toToolResult(output, FORM)).toEqual({
      content: [{ type: 'text', text: '{"text":"it’s","none":null,"list":[true]}' }],
      structuredContent: output,
    });
  });

  it('contains a long output once: structured for clients that read it, as text for the others', () => {
    const output = { text: 'x'.repeat(700_000) };
    const { content, structuredContent } = toToolResult(output, FORM);
    expect(structuredContent).toBe(output);
    expect(content[0]).toMatchObject({ text: expect.stringContaining('of 700011 characters') });
    expect(JSON.stringify(content).length).toBeLessThan(4_000);
    expect(toToolResult(output, { ...FORM, knowsStructure: false })).toEqual({
      content: [{ type: 'text', text: JSON.stringify(output) }],
    });
  });

  it('is the agent’s last message when only the answer is configured', () => {
    const of = (content: unknown) =>
      toToolResult({ messages: [{ type: 'ai', content }] }, { ...FORM, textIsAnswer: true }).content[0];
    expect(of('Hello')).toEqual({ type: 'text', text: 'Hello' });
    expect(
      of([
        { type: 'text', text: 'Hel' },
        { type: 'text', text: 'lo' },
      ]),
    ).toEqual({ type: 'text', text: 'Hello' });
    expect(of('')).toEqual({ type: 'text', text: '{"messages":[{"type":"ai","content":""}]}' });
  });

  it.each([
    [
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
      { type: 'image', data: 'AA==', mimeType: 'image/png' },
    ],
    [
      { type: 'audio', data: 'AA==', mime_type: 'audio/wav' },
      { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
    ],
    [
      { type: 'image_url', image_url: { url: 'data:image/gif;base64,AAAA' } },
      { type: 'image', data: 'AAAA', mimeType: 'image/gif' },
    ],
    [
      { type: 'resource', resource: { uri: 'a://b', text: 'c' } },
      { type: 'resource', resource: { uri: 'a://b', text: 'c' } },
    ],
    [
      { type: 'resource_link', uri: 'a://b', name: 'b', more: 1 },
      { type: 'resource_link', uri: 'a://b', name: 'b' },
    ],
  ])('shows what the last message contains beside text: %p', (block, expected) => {
    expect(media([{ type: 'text', text: 'see' }, block])).toEqual([expected]);
  });

  it.each([
    ['text', [{ type: 'text', text: 'see' }]],
    ['a plain answer', 'see'],
    ['an image without data', [{ type: 'image', mimeType: 'image/png' }]],
    ['an image elsewhere', [{ type: 'image_url', image_url: 'https://example.com/a.png' }]],
    ['a resource without contents', [{ type: 'resource', resource: { uri: 'a://b' } }]],
    ['a call of a tool', [{ type: 'tool_use', name: 'x' }, null, 7]],
  ])('is empty for %s', (_, content) => {
    expect(media(content)).toEqual([]);
  });
});
