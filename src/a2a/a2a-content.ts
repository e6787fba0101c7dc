import type { Part } from '@a2a-js/sdk';

const TEXT = 'text/plain';
const JSON_TYPE = 'application/json';

/** Names of modes that clients use besides media types. */
const INFORMAL = new Map([
  ['text', 'text/*'],
  ['data', JSON_TYPE],
  ['json', JSON_TYPE],
  ['file', '*/*'],
]);

export function textPart(text: string): Part {
  return { content: { $case: 'text', value: text }, metadata: undefined, filename: '', mediaType: TEXT };
}

export function dataPart(data: unknown): Part {
  return { content: { $case: 'data', value: data }, metadata: undefined, filename: '', mediaType: JSON_TYPE };
}

function filePart(source: { base64: string } | { url: string }, mediaType: string, filename: string): Part {
  const content =
    'url' in source
      ? { $case: 'url' as const, value: source.url }
      : { $case: 'raw' as const, value: Buffer.from(source.base64, 'base64') };
  return { content, metadata: undefined, filename, mediaType };
}

/** A value that a graph shows to a person: text unchanged, other values as data. */
export function partOf(value: unknown): Part {
  return typeof value === 'string' ? textPart(value) : dataPart(value);
}

interface Block {
  type?: string;
  text?: unknown;
  image_url?: string | { url?: string };
  data?: unknown;
  base64?: unknown;
  url?: unknown;
  mime_type?: string;
  mimeType?: string;
  metadata?: { filename?: string; name?: string };
}

/** Reasoning and tool calls are internal to the agent. */
const PRIVATE_BLOCKS = new Set([
  'reasoning',
  'thinking',
  'redacted_thinking',
  'tool_use',
  'tool_call',
  'input_json_delta',
]);

/** The parts of a LangChain message's content, in any of the forms that models return. */
export function partsOfContent(content: unknown): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: unknown) => partsOfBlock(block));
}

function partsOfBlock(block: unknown): Part[] {
  if (typeof block === 'string') return partsOfContent(block);
  if (typeof block !== 'object' || block === null) return [];
  const { type = '', text, image_url: image, metadata, ...rest } = block as Block;
  if (PRIVATE_BLOCKS.has(type)) return [];
  if (typeof text === 'string' && (type === 'text' || type === 'text_delta')) return partsOfContent(text);
  const filename = metadata?.filename ?? metadata?.name ?? '';
  const mediaType = rest.mime_type ?? rest.mimeType ?? '';
  const url = typeof image === 'string' ? image : (image?.url ?? rest.url);
  if (typeof url === 'string') {
    const [, inlineType, inline] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    return [inline ? filePart({ base64: inline }, inlineType, filename) : filePart({ url }, mediaType, filename)];
  }
  const base64 = rest.base64 ?? rest.data;
  if (typeof base64 === 'string') return [filePart({ base64 }, mediaType, filename)];
  return [dataPart(block)];
}

/** The text of the parts, if they are nothing else. */
export function textOf(parts: Part[]): string | undefined {
  const texts = parts.map(({ content }) => (content?.$case === 'text' ? content.value : undefined));
  return texts.includes(undefined) ? undefined : texts.join('');
}

/** A part as a block of a LangChain message; providers translate it into their own form. */
export function toBlock({ content, mediaType, filename }: Part): Record<string, unknown> {
  if (content?.$case === 'text') return { type: 'text', text: content.value };
  const kind = /^(image|audio)\//.exec(mediaType)?.[1] ?? 'file';
  return {
    type: kind,
    ...(content?.$case === 'url'
      ? { source_type: 'url', url: content.value }
      : { source_type: 'base64', data: content?.$case === 'raw' ? content.value.toString('base64') : '' }),
    ...(mediaType !== '' && { mime_type: mediaType }),
    ...(filename !== '' && { metadata: { filename, name: filename } }),
  };
}

/** Whether a media type is one of the modes; `*` and the informal names of clients are understood. */
export function isAccepted(mediaType: string, modes: string[]): boolean {
  const [type, subtype] = mediaType.toLowerCase().split(';', 1)[0].trim().split('/');
  return modes.some((mode) => {
    const [wantedType, wantedSubtype] = (INFORMAL.get(mode) ?? mode.toLowerCase().split(';', 1)[0].trim()).split('/');
    return (wantedType === '*' || wantedType === type) && (wantedSubtype === '*' || wantedSubtype === subtype);
  });
}

/** The parts in the forms that the client accepts, as far as one can be turned into the other. No modes means any. */
export function tailorParts(parts: Part[], modes: string[]): Part[] {
  if (modes.length === 0) return parts;
  const takesText = isAccepted(TEXT, modes);
  const takesData = isAccepted(JSON_TYPE, modes);
  return parts.map((part) => {
    const { content } = part;
    if (content?.$case === 'data' && !takesData && takesText) return textPart(JSON.stringify(content.value));
    if (content?.$case === 'text' && !takesText && takesData) return dataPart(content.value);
    return part;
  });
}
