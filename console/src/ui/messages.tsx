import { useState } from 'react';
import { Icon } from './icons';
import { JsonView } from './json-view';
import { MarkdownText } from './markdown';
import { VirtualList } from './virtual-list';

export interface ToolCall {
  id?: string;
  name: string;
  args: unknown;
}

/** A message of a conversation, as LangChain writes them. */
export interface ChatMessage {
  id?: string;
  type: string;
  content: unknown;
  name?: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
  status?: string;
}

interface Block {
  type?: string;
  text?: string;
  image_url?: string | { url?: string };
  source_type?: string;
  data?: string;
  mime_type?: string;
  mimeType?: string;
}

const isMessage = (value: unknown): value is ChatMessage =>
  typeof value === 'object' && value !== null && 'type' in value && 'content' in value;

/** The messages of a state; undefined where it holds none. */
export function messagesOf(values: unknown): ChatMessage[] | undefined {
  const found = (values as { messages?: unknown } | null | undefined)?.messages;
  return Array.isArray(found) && found.every(isMessage) ? found : undefined;
}

export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return content == null ? '' : JSON.stringify(content);
  return content.map((block: Block | string) => (typeof block === 'string' ? block : (block.text ?? ''))).join('');
}

/** Address of a picture inside a message; only data: URLs are loaded. */
function pictureOf(block: Block): string | undefined {
  const url = typeof block.image_url === 'string' ? block.image_url : block.image_url?.url;
  if (url?.startsWith('data:image/')) return url;
  const type = block.mime_type ?? block.mimeType;
  return block.type === 'image' && block.data && type ? `data:${type};base64,${block.data}` : undefined;
}

function Attachments({ content }: { content: unknown }) {
  if (!Array.isArray(content)) return null;
  const others = (content as Block[]).filter(
    (block) => typeof block === 'object' && block.type !== 'text' && block.text === undefined,
  );
  return others.map((block, index) => {
    const picture = pictureOf(block);
    return picture ? (
      <img key={index} src={picture} alt="Attached" className="mt-2 max-h-64 rounded-md border border-line" />
    ) : (
      <p key={index} className="mt-2 inline-flex items-center gap-1.5 rounded-md bg-hover px-2 py-1 text-xs text-soft">
        <Icon name="attach" size={13} />
        {block.mime_type ?? block.mimeType ?? block.type ?? 'attachment'}
      </p>
    );
  });
}

/** A tool call with its result, or with a sign that it is still running. */
export function ToolCallCard({
  call,
  result,
  isRunning,
}: {
  call: ToolCall;
  result?: ChatMessage;
  isRunning: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const failed = result?.status === 'error';
  return (
    <div className="mt-2 overflow-hidden rounded-lg border border-line bg-surface">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex w-full items-center gap-2 px-3 py-1.5 text-left hover:bg-hover"
      >
        <Icon name={isOpen ? 'down' : 'right'} size={11} className="text-muted" />
        <span className="font-mono text-xs font-medium">{call.name}</span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-muted">{JSON.stringify(call.args)}</span>
        {result ? (
          <Icon name={failed ? 'warning' : 'check'} size={14} className={failed ? 'text-bad' : 'text-good'} />
        ) : (
          isRunning && (
            <span className="size-2 animate-pulse-dot rounded-full bg-busy" aria-label="running" role="img" />
          )
        )}
      </button>
      {isOpen && (
        <div className="border-t border-line px-3 py-2">
          <JsonView value={call.args} />
        </div>
      )}
      {result && (
        <div className="border-t border-line bg-sunken px-3 py-2 text-xs wrap-anywhere whitespace-pre-wrap text-soft">
          {textOf(result.content)}
        </div>
      )}
    </div>
  );
}

interface MessageProps {
  message: ChatMessage;
  /** Answers of tools by the id of their call. */
  results: Map<string, ChatMessage>;
  isRunning: boolean;
}

export function Message({ message, results, isRunning }: MessageProps) {
  const text = textOf(message.content);
  if (message.type === 'human') {
    return (
      <div className="ml-auto w-fit max-w-[85%] rounded-2xl rounded-br-md bg-accent-soft px-3.5 py-2">
        <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
          {text}
        </p>
        <Attachments content={message.content} />
      </div>
    );
  }
  return (
    <div className="min-w-0">
      {message.type !== 'ai' && (
        <p className="caps mb-1">
          {message.type}
          {message.name && <span className="ml-1.5 font-normal tracking-normal normal-case">{message.name}</span>}
        </p>
      )}
      {text && <MarkdownText text={text} />}
      <Attachments content={message.content} />
      {message.tool_calls?.map((call, index) => (
        <ToolCallCard
          key={call.id ?? index}
          call={call}
          result={call.id ? results.get(call.id) : undefined}
          isRunning={isRunning}
        />
      ))}
    </div>
  );
}

/** Results of tools by the id of the call, where they are shown. */
export const toolResults = (messages: ChatMessage[]): Map<string, ChatMessage> =>
  new Map(messages.filter(({ tool_call_id }) => tool_call_id !== undefined).map((each) => [each.tool_call_id!, each]));

/** Height in pixels that a message is assumed to have until it is rendered. */
export const MESSAGE_ESTIMATE = 80;

/** A read-only conversation. */
export function Conversation({ messages }: { messages: ChatMessage[] }) {
  const results = toolResults(messages);
  const calls = new Set(messages.flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? []));
  return (
    <VirtualList
      items={messages.filter(({ tool_call_id }) => tool_call_id === undefined || !calls.has(tool_call_id))}
      // A traced run may hold the same message twice.
      keyOf={(_, index) => String(index)}
      label="Conversation"
      estimate={MESSAGE_ESTIMATE}
      gap={20}
      className="mx-auto max-w-3xl"
    >
      {(message) => <Message message={message} results={results} isRunning={false} />}
    </VirtualList>
  );
}
