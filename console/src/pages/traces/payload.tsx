import { useState } from 'react';
import { JsonView } from '../../ui/json-view';
import { Conversation } from '../../ui/messages';
import { messagesIn } from './messages-in';

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
        <Conversation messages={messages} />
      ) : (
        <div className="card overflow-auto p-2">
          <JsonView value={value} />
        </div>
      )}
    </section>
  );
}
