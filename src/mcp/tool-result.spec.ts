import { toToolResult } from './tool-result';

const media = (content: unknown): unknown[] => toToolResult({ messages: [{ type: 'ai', content }] }).content.slice(1);

describe('the result of a tool', () => {
  it('is the output as JSON text, and the same structured', () => {
    const output = { text: 'it’s', none: null, list: [true] };
    expect(toToolResult(output)).toEqual({
      content: [{ type: 'text', text: '{"text":"it’s","none":null,"list":[true]}' }],
      structuredContent: output,
    });
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
  ])('shows what the last message holds beside text: %p', (block, expected) => {
    expect(media([{ type: 'text', text: 'see' }, block])).toEqual([expected]);
  });

  it.each([
    ['text', [{ type: 'text', text: 'see' }]],
    ['a plain answer', 'see'],
    ['an image without data', [{ type: 'image', mimeType: 'image/png' }]],
    ['an image elsewhere', [{ type: 'image_url', image_url: 'https://example.com/a.png' }]],
    ['a resource without contents', [{ type: 'resource', resource: { uri: 'a://b' } }]],
    ['a call of a tool', [{ type: 'tool_use', name: 'x' }, null, 7]],
  ])('has nothing to show of %s', (_, content) => {
    expect(media(content)).toEqual([]);
  });
});
