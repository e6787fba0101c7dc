import { useState } from 'react';
import { Boundary } from './boundary';
import { type Block, type ChatMessage, textOf, type ToolCall, toolCallIds, toolResults } from './chat-messages';
import { Icon } from './icons';
import { JsonView } from './json-view';
import { MarkdownText } from './markdown';
import { VirtualList } from './virtual-list';

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

/** A message of a conversation. One that can't be rendered is replaced by the error alone. */
export function Message(props: MessageProps) {
  return (
    <Boundary of={props.message}>
      <MessageContent {...props} />
    </Boundary>
  );
}

function MessageContent({ message, results, isRunning }: MessageProps) {
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

/** Height in pixels that a message is assumed to have until it is rendered. */
export const MESSAGE_ESTIMATE = 80;

/** A read-only conversation. */
export function Conversation({ messages }: { messages: ChatMessage[] }) {
  const results = toolResults(messages);
  const calls = toolCallIds(messages);
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
