/** A page with `useStream` of @langchain/langgraph-sdk, which streams runs, and components of the server. */
import type { AIMessage, Message } from '@langchain/langgraph-sdk';
import { useStream } from '@langchain/langgraph-sdk/react';
import { LoadExternalComponent, type UIMessage, uiMessageReducer } from '@langchain/langgraph-sdk/react-ui';
import { createRoot } from 'react-dom/client';
import { Chat, rememberThread, server, threadOfPage } from './page';

interface State extends Record<string, unknown> {
  messages: Message[];
  ui?: UIMessage[];
}

const human = (content: string): Partial<State> => ({ messages: [{ type: 'human', content }] });

function Page() {
  const stream = useStream<State>({
    ...server,
    threadId: threadOfPage(),
    onThreadId: rememberThread,
    reconnectOnMount: true,
    fetchStateHistory: true,
    onCustomEvent: (event, { mutate }) =>
      mutate((before) => ({ ...before, ui: uiMessageReducer(before.ui ?? [], event as UIMessage) })),
  });
  const componentsOf = ({ id }: Message) =>
    stream.values.ui
      ?.filter(({ metadata }) => metadata?.message_id === id || metadata?.id === id)
      .map((message) => <LoadExternalComponent key={message.id} stream={stream as never} message={message} />);
  return (
    <Chat
      messages={stream.messages.map((message) => ({
        id: message.id,
        type: message.type,
        text: message.content as string,
        calls: ((message as AIMessage).tool_calls ?? []).map(({ name }) => name),
        beside: componentsOf(message),
      }))}
      question={stream.interrupt?.value}
      error={stream.error}
      isBusy={stream.isLoading}
      send={(text) =>
        stream.submit(human(text), { streamMode: ['custom'], streamResumable: true, onDisconnect: 'continue' })
      }
      edit={(index, text) => {
        const { firstSeenState } = stream.getMessagesMetadata(stream.messages[index], index)!;
        return stream.submit(human(text), { checkpoint: firstSeenState!.parent_checkpoint });
      }}
      answer={(resume) => stream.submit(undefined, { command: { resume } })}
    />
  );
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Page />);
