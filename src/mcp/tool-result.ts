import type { CallToolResult } from '@modelcontextprotocol/server';
import { isJsonObject } from '../database/json';

export type ContentBlock = CallToolResult['content'][number];

/** Characters of text beside the same as structured content: clients limit what one event may hold, some of them to 1 MiB. */
const LONG_TEXT = 64 * 1024;
const SHOWN_TEXT = 2_000;

export interface ResultForm {
  /** Whether the client reads structured content. */
  knowsStructure: boolean;
  /** Whether the text is what the agent said last, in place of the output. */
  textIsAnswer: boolean;
}

/**
 * The output as JSON text and, the same, as structured content; followed by what the answer holds beside text. A long text is
 * cut for clients that read structured content, and the others don't get it twice.
 */
export function toToolResult(output: Record<string, unknown>, form: ResultForm): CallToolResult {
  const whole = (form.textIsAnswer ? lastTextOf(output) : undefined) ?? JSON.stringify(output);
  const isLong = whole.length > LONG_TEXT;
  return {
    content: [{ type: 'text', text: isLong && form.knowsStructure ? shortened(whole) : whole }, ...mediaOf(output)],
    ...((form.knowsStructure || !isLong) && { structuredContent: output }),
  };
}

function shortened(text: string): string {
  return `${text.slice(0, SHOWN_TEXT)}… (the first ${SHOWN_TEXT} of ${text.length} characters; all of it is in structuredContent)`;
}

function lastTextOf({ messages }: Record<string, unknown>): string | undefined {
  const last = Array.isArray(messages) ? (messages.at(-1) as { content?: unknown } | undefined)?.content : undefined;
  if (typeof last === 'string') return last === '' ? undefined : last;
  if (!Array.isArray(last)) return undefined;
  const text = last
    .map((block: unknown) => (isJsonObject(block) && typeof block.text === 'string' ? block.text : ''))
    .join('');
  return text === '' ? undefined : text;
}

/** Failure inside the tool: the model reads it and may try otherwise. */
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
