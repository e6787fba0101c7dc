/** A page with `useStream` of @langchain/react, which listens to threads by the event protocol. */
import type { BaseMessage } from '@langchain/core/messages';
import { useStream } from '@langchain/react';
import { createRoot } from 'react-dom/client';
import { Chat, checkpointAfter, rememberThread, server, threadOfPage } from './page';

interface State extends Record<string, unknown> {
  messages: BaseMessage[];
}

const human = (content: string) => ({ messages: [{ type: 'human', content }] }) as unknown as State;

function Page() {
  const stream = useStream<State>({ ...server, threadId: threadOfPage(), onThreadId: rememberThread });
  return (
    <Chat
      messages={stream.messages.map((message) => ({
        id: message.id,
        type: message.getType(),
        text: message.text,
        calls: ((message as { tool_calls?: { name: string }[] }).tool_calls ?? []).map(({ name }) => name),
      }))}
      question={stream.interrupt?.value}
      error={stream.error}
      isBusy={stream.isLoading}
      send={(text) => stream.submit(human(text))}
      edit={async (index, text) => {
        const forkFrom = await checkpointAfter(stream.threadId!, stream.messages.slice(0, index));
        await stream.submit(human(text), { forkFrom: forkFrom! });
      }}
      answer={(value) => stream.respond(value, { interruptId: stream.interrupt!.id!, namespace: [] })}
    />
  );
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Page />);
