/** A page with the runtime that @assistant-ui/react-langgraph documents, on the SDK's client. */
import {
  ActionBarPrimitive,
  AssistantRuntimeProvider,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  useAuiState,
} from '@assistant-ui/react';
import {
  type LangChainMessage,
  unstable_createLangGraphStream,
  useLangGraphInterruptState,
  useLangGraphRuntime,
  useLangGraphSendCommand,
} from '@assistant-ui/react-langgraph';
import { createRoot } from 'react-dom/client';
import { checkpointAfter, client, rememberThread, server, threadOfPage } from './page';

const nothing = async () => undefined;
const regular = (id: string) => ({ remoteId: id, externalId: id, status: 'regular' as const });

/** The server's threads as the list of conversations, by which a reloaded page finds its own. */
const threads = {
  list: async () => ({ threads: (await client.threads.search()).map(({ thread_id }) => regular(thread_id)) }),
  initialize: async () => {
    const { thread_id } = await client.threads.create();
    rememberThread(thread_id);
    return { remoteId: thread_id, externalId: thread_id };
  },
  fetch: async (id: string) => regular(id),
  delete: (id: string) => client.threads.delete(id),
  rename: nothing,
  archive: nothing,
  unarchive: nothing,
  generateTitle: async () => new ReadableStream({ start: (stream) => stream.close() }),
} as never;

function Runtime({ children }: { children: React.ReactNode }) {
  const runtime = useLangGraphRuntime({
    stream: unstable_createLangGraphStream({ client, assistantId: server.assistantId, onDisconnect: 'continue' }),
    unstable_threadListAdapter: threads,
    load: async (externalId) => {
      const { values, tasks } = await client.threads.getState(externalId);
      return { messages: (values.messages ?? []) as LangChainMessage[], interrupts: tasks[0]?.interrupts as never };
    },
    getCheckpointId: checkpointAfter,
    initialThreadId: threadOfPage() ?? undefined,
  });
  return <AssistantRuntimeProvider runtime={runtime}>{children}</AssistantRuntimeProvider>;
}

const Call = ({ toolName, result }: { toolName: string; result?: unknown }) => (
  <code>
    {toolName} {result === undefined ? '' : String(result)}
  </code>
);

const Text = ({ text }: { text: string }) => <p>{text}</p>;

const UserMessage = () => (
  <MessagePrimitive.Root asChild>
    <li className="human">
      <MessagePrimitive.Parts components={{ Text }} />
      <ActionBarPrimitive.Edit>Edit</ActionBarPrimitive.Edit>
    </li>
  </MessagePrimitive.Root>
);

const AssistantMessage = () => (
  <MessagePrimitive.Root asChild>
    <li className="ai">
      <MessagePrimitive.Parts components={{ Text, tools: { Fallback: Call } }} />
    </li>
  </MessagePrimitive.Root>
);

const EditComposer = () => (
  <ComposerPrimitive.Root className="edit">
    <ComposerPrimitive.Input />
    <ComposerPrimitive.Send>Update</ComposerPrimitive.Send>
  </ComposerPrimitive.Root>
);

function Question() {
  const interrupt = useLangGraphInterruptState();
  const send = useLangGraphSendCommand();
  if (!interrupt) return null;
  return (
    <dialog open>
      <pre>{JSON.stringify(interrupt.value)}</pre>
      <button onClick={() => void send({ resume: 'yes' })}>Approve</button>
    </dialog>
  );
}

function Thread() {
  const isRunning = useAuiState(({ thread }) => thread.isRunning);
  return (
    <main aria-busy={isRunning}>
      <ThreadPrimitive.Root>
        <ul>
          <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage, EditComposer }} />
        </ul>
        <Question />
        <ComposerPrimitive.Root className="new">
          <ComposerPrimitive.Input />
          <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </main>
  );
}

createRoot(document.body.appendChild(document.createElement('div'))).render(
  <Runtime>
    <Thread />
  </Runtime>,
);
