import { useState } from 'react';
import { JsonView } from '../../ui/json-view';
import { MarkdownText } from '../../ui/markdown';
import { messagesIn, type ShownMessage } from './messages-in';

const ROLE_TONES: Record<string, string> = {
  user: 'text-busy',
  assistant: 'text-accent',
  tool: 'text-wait',
  system: 'text-muted',
};

function Message({ message }: { message: ShownMessage }) {
  return (
    <li className="card px-3 py-2">
      <p className={`caps ${ROLE_TONES[message.role] ?? ''}`}>
        {message.role}
        {message.name && <span className="ml-1.5 font-normal tracking-normal normal-case">{message.name}</span>}
      </p>
      {message.text && (
        <div className="mt-1">
          <MarkdownText text={message.text} />
        </div>
      )}
      {message.toolCalls.map((call, index) => (
        <div key={index} className="mt-2 rounded-md bg-sunken px-2.5 py-1.5">
          <p className="font-mono text-xs font-medium">{call.name}</p>
          <JsonView value={call.args} />
        </div>
      ))}
    </li>
  );
}

/** Inputs or outputs of a run: messages as messages, everything else as a tree. */
export function Payload({ title, value }: { title: string; value: unknown }) {
  const messages = messagesIn(value);
  const [isRaw, setRaw] = useState(false);
  return (
    <section>
      <header className="mb-1.5 flex items-center gap-3">
        <h3 className="caps">{title}</h3>
        {messages.length > 0 && (
          <button type="button" className="text-xs text-accent hover:underline" onClick={() => setRaw(!isRaw)}>
            {isRaw ? 'Show messages' : 'Show JSON'}
          </button>
        )}
      </header>
      {messages.length > 0 && !isRaw ? (
        <ol className="space-y-2">
          {messages.map((message, index) => (
            <Message key={index} message={message} />
          ))}
        </ol>
      ) : (
        <div className="card overflow-auto p-2">
          <JsonView value={value} />
        </div>
      )}
    </section>
  );
}
