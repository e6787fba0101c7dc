import type { CallToolResult } from '@modelcontextprotocol/server';
import { isJsonObject } from '../database/json';

export type ContentBlock = CallToolResult['content'][number];

/** The output as JSON text and as structured content, followed by the other content of the answer. */
export function toToolResult(output: Record<string, unknown>): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(output) }, ...mediaOf(output)],
    structuredContent: output,
  };
}

/** An error inside the tool, which the model can read and react to. */
export function toToolError(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Images, sounds and resources of the last message: clients show them, which they can't with JSON. */
function mediaOf({ messages }: Record<string, unknown>): ContentBlock[] {
  if (!Array.isArray(messages)) return [];
  const last = messages.at(-1) as { content?: unknown } | undefined;
  if (!Array.isArray(last?.content)) return [];
  return last.content.flatMap((block: unknown) => toMedia(block) ?? []);
}

function toMedia(block: unknown): ContentBlock | undefined {
  if (!isJsonObject(block)) return undefined;
  const { type } = block;
  if (type === 'image' || type === 'audio') {
    const mimeType = block.mimeType ?? block.mime_type;
    if (typeof block.data !== 'string' || typeof mimeType !== 'string') return undefined;
    return { type, data: block.data, mimeType };
  }
  if (type === 'image_url') return imageOfUrl(block.image_url);
  if (type === 'resource' && isJsonObject(block.resource) && isResource(block.resource)) {
    return { type, resource: block.resource };
  }
  if (type === 'resource_link' && typeof block.uri === 'string' && typeof block.name === 'string') {
    return { type, uri: block.uri, name: block.name };
  }
  return undefined;
}

type Resource = { uri: string; mimeType?: string } & ({ text: string } | { blob: string });

function isResource(resource: Record<string, unknown>): resource is Resource {
  return (
    typeof resource.uri === 'string' &&
    (resource.mimeType === undefined || typeof resource.mimeType === 'string') &&
    (typeof resource.text === 'string' || typeof resource.blob === 'string')
  );
}

/** The form of chat models: an address that carries the image itself. */
function imageOfUrl(image: unknown): ContentBlock | undefined {
  const url: unknown = isJsonObject(image) ? image.url : image;
  const parts = typeof url === 'string' ? /^data:([^;,]+);base64,(.*)$/s.exec(url) : null;
  return parts ? { type: 'image', mimeType: parts[1], data: parts[2] } : undefined;
}
