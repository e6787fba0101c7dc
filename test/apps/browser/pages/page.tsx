import { Client } from '@langchain/langgraph-sdk';
import { type FormEvent, type ReactNode, useState } from 'react';

const query = new URLSearchParams(location.search);

/** Server and assistant from the address of the page. */
export const server = {
  apiUrl: query.get('apiUrl')!,
  apiKey: query.get('apiKey') ?? undefined,
  assistantId: 'agent',
};

/** Id of the page's conversation, kept in its address for a reload. */
export const threadOfPage = (): string | null => new URLSearchParams(location.search).get('threadId');

export function rememberThread(threadId: string): void {
  const next = new URLSearchParams(location.search);
  next.set('threadId', threadId);
  history.replaceState(null, '', `?${next}`);
}

export const client = new Client<{ messages?: { id?: string }[] }>({
  apiUrl: server.apiUrl,
  apiKey: server.apiKey ?? null,
});

/** The newest checkpoint at which the conversation had exactly these messages and no node was due. */
export async function checkpointAfter(threadId: string, messages: { id?: string }[]): Promise<string | null> {
  const idsOf = (some: { id?: string }[]): string => some.map(({ id }) => id).join();
  const history = await client.threads.getHistory(threadId, { limit: 100 });
  const found = history.find(
    ({ values, next }) => next.length === 0 && idsOf(values.messages ?? []) === idsOf(messages),
  );
  return found?.checkpoint.checkpoint_id ?? null;
}

interface ChatProps {
  messages: { id?: string; type: string; text: string; calls: string[]; beside?: ReactNode }[];
  question: unknown;
  error: unknown;
  isBusy: boolean;
  send: (text: string) => unknown;
  /** Replaces a message of the user's. */
  edit: (index: number, text: string) => unknown;
  answer: (value: string) => unknown;
}

/** A plain chat, the same for every hook. */
export function Chat({ messages, question, error, isBusy, send, edit, answer }: ChatProps) {
  const [text, setText] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setText('');
    send(text);
  };
  return (
    <main aria-busy={isBusy}>
      <ul>
        {messages.map((message, index) => (
          <li key={message.id ?? index} className={message.type}>
            <p>{message.text}</p>
            {message.calls.map((name) => (
              <code key={name}>{name}</code>
            ))}
            {message.beside}
            {message.type === 'human' && <button onClick={() => edit(index, text)}>Edit</button>}
          </li>
        ))}
      </ul>
      {question ? (
        <dialog open>
          <pre>{JSON.stringify(question)}</pre>
          <button onClick={() => answer('yes')}>Approve</button>
        </dialog>
      ) : null}
      {error ? <strong>{error instanceof Error ? error.message : JSON.stringify(error)}</strong> : null}
      <form onSubmit={submit}>
        <textarea value={text} onChange={(event) => setText(event.target.value)} />
        <button>Send</button>
      </form>
    </main>
  );
}
