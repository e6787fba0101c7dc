import { useStream } from '@langchain/langgraph-sdk/react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { schemasQuery } from '../../api/graph-schemas';
import { sdk } from '../../api/sdk';
import { Button, IconButton } from '../../ui/button';
import { ErrorBox } from '../../ui/feedback';
import { JsonView } from '../../ui/json-view';
import { useFollowedEnd } from '../../ui/followed-end';
import { type ChatMessage, textOf, toolCallIds, toolResults } from '../../ui/chat-messages';
import { Message, MESSAGE_ESTIMATE } from '../../ui/messages';
import { notifyError } from '../../ui/toast';
import { VirtualList } from '../../ui/virtual-list';
import { Composer } from './composer';
import { EventCount, Events } from './events';
import type { RunOptions } from './run-options';
import { StreamLog, type StreamMode } from './stream-log';
import { Waiting } from './waiting';

type Values = Record<string, unknown>;
const keyOf = ({ id }: ChatMessage, index: number): string => id ?? String(index);
/** Modes that repeat what the conversation shows. */
const SHOWN_BY_CHAT = ['values', 'messages'] as const;
/** Stream modes of every run; others are requested once they are chosen. */
const BASE_MODES = ['values', 'messages-tuple', 'updates', 'custom', 'tasks'];

interface Props {
  assistantId: string;
  threadId: string | undefined;
  /** Checkpoint that the next message continues from, instead of the end of the thread. */
  checkpointId: string | undefined;
  options: RunOptions;
  onThread: (threadId: string) => void;
  onForked: () => void;
  /** Branch of the conversation, as the SDK names it. */
  branch: string | undefined;
  onBranch: (branch: string | undefined) => void;
  showsEvents: boolean;
  onShowEvents: (shows: boolean) => void;
  modes: readonly StreamMode[];
  onModes: (modes: StreamMode[]) => void;
}

export function Chat(props: Props) {
  const { assistantId, threadId, checkpointId, options, branch, showsEvents, modes } = props;
  const queries = useQueryClient();
  const [editing, setEditing] = useState<{ id: string; text: string }>();
  const [log] = useState(() => new StreamLog());
  const [refusal, setRefusal] = useState<unknown>();
  const [queued, setQueued] = useState(0);
  const run = useRef<{ run_id: string; thread_id: string }>(undefined);
  const isStopAsked = useRef(false);
  const cancelRun = useRef<(threadId: string, runId: string) => Promise<void>>(() => Promise.resolve());
  const schemas = useQuery(schemasQuery(assistantId));
  const thread = useStream<Values>({
    client: log.client as never,
    assistantId,
    threadId: threadId ?? null,
    onThreadId: props.onThread,
    messagesKey: 'messages',
    reconnectOnMount: true,
    throttle: 30,
    fetchStateHistory: { limit: 100 },
    onCreated: (created) => {
      run.current = created;
      if (isStopAsked.current) void cancelRun.current(created.thread_id, created.run_id);
      isStopAsked.current = false;
    },
    onFinish: () => void queries.invalidateQueries(),
  });
  const cancel = async (threadOfRun: string, runId: string): Promise<void> => {
    try {
      await sdk.runs.cancel(threadOfRun, runId);
    } catch (error) {
      notifyError(error);
    }
  };
  cancelRun.current = cancel;
  /** Cancels the run on the server; a run that is still being created is cancelled once it exists. */
  const stop = async (): Promise<void> => {
    if (run.current) return cancel(run.current.thread_id, run.current.run_id);
    const open = threadId === undefined ? [] : await sdk.runs.list(threadId, { status: 'running' });
    if (open.length === 0) isStopAsked.current = true;
    for (const { run_id } of open) await cancel(threadId!, run_id);
  };
  const place = useFollowedEnd(thread.isLoading);
  const { setBranch } = thread;
  useEffect(() => setBranch(branch ?? ''), [branch, setBranch]);
  useEffect(() => {
    if (thread.isLoading) return;
    run.current = undefined;
    isStopAsked.current = false;
  }, [thread.isLoading]);
  const inputSchema = schemas.data?.input_schema;
  const isChat = !inputSchema?.properties || 'messages' in inputSchema.properties;
  const messages = thread.messages as unknown as ChatMessage[];
  const calls = toolCallIds(messages);
  const results = toolResults(messages);

  const runOptions = {
    multitaskStrategy: options.strategy,
    streamMode: [
      ...new Set([...BASE_MODES, ...modes.map((each) => (each === 'messages' ? 'messages-tuple' : each))]),
    ] as never,
    streamSubgraphs: true,
    onDisconnect: 'continue' as const,
    streamResumable: true,
    ...(options.config !== undefined && { config: { configurable: options.config as Values } }),
    ...(options.context !== undefined && { context: options.context as never }),
  };
  const from = (checkpoint: string | undefined) =>
    checkpoint ? { checkpoint: { checkpoint_id: checkpoint, checkpoint_ns: '', checkpoint_map: {} } as never } : {};

  /** Creates a run beside the one that is on: the hook would send it only after the end of that one. */
  const sendAlongside = async (threadOfRun: string, input: unknown): Promise<void> => {
    try {
      const { onDisconnect: _, ...payload } = runOptions;
      const created = await sdk.runs.create(threadOfRun, assistantId, {
        ...payload,
        input: input as Values,
        ...from(checkpointId),
      } as never);
      run.current = undefined;
      setQueued((before) => before + 1);
      await thread.joinStream(created.run_id).finally(() => setQueued((before) => before - 1));
    } catch (error) {
      setRefusal(error);
    }
  };
  const send = (input: unknown): void => {
    setRefusal(undefined);
    if (branch) props.onBranch(undefined);
    const isBeside = thread.isLoading && (options.strategy === 'enqueue' || options.strategy === 'reject');
    if (isBeside && threadId) {
      void sendAlongside(threadId, input);
      if (checkpointId) props.onForked();
      return;
    }
    void thread.submit(
      input as Values,
      {
        ...runOptions,
        ...from(checkpointId),
        ...(isChat &&
          !checkpointId && {
            optimisticValues: (before: Values) => ({
              ...before,
              messages: [
                ...((before.messages as unknown[] | undefined) ?? []),
                ...((input as { messages: object[] }).messages ?? []),
              ],
            }),
          }),
      } as never,
    );
    if (checkpointId) props.onForked();
  };
  const resend = (message: ChatMessage, text: string): void => {
    const metadata = thread.getMessagesMetadata(message as never);
    const checkpoint = metadata?.firstSeenState?.parent_checkpoint;
    setEditing(undefined);
    setRefusal(undefined);
    if (branch) props.onBranch(undefined);
    void thread.submit(
      { messages: [{ type: 'human', content: text }] } as Values,
      { ...runOptions, checkpoint } as never,
    );
  };

  return (
    <div className="flex min-w-0 flex-1">
      <div className="flex min-w-0 flex-1 flex-col">
        <div ref={place} className="min-h-0 flex-1 overflow-auto px-4 py-6 sm:px-6" aria-busy={thread.isLoading}>
          <div className="mx-auto max-w-3xl">
            {messages.length === 0 && !thread.isLoading && isChat && !thread.error && (
              <p className="py-16 text-center text-muted">Send a message to begin a thread.</p>
            )}
            <VirtualList
              items={messages.filter(({ tool_call_id }) => tool_call_id === undefined || !calls.has(tool_call_id))}
              keyOf={keyOf}
              label="Conversation"
              estimate={MESSAGE_ESTIMATE}
              gap={20}
            >
              {(message, index) => {
                const id = keyOf(message, index);
                const metadata = thread.getMessagesMetadata(message as never);
                const branches = metadata?.branchOptions ?? [];
                const branchAt = branches.indexOf(metadata?.branch ?? '');
                if (editing?.id === id) {
                  return (
                    <div className="ml-auto w-full max-w-[85%] space-y-2">
                      <textarea
                        aria-label="Edited message"
                        className="field h-auto min-h-20 py-2"
                        value={editing.text}
                        onChange={({ target }) => setEditing({ id, text: target.value })}
                      />
                      <div className="flex justify-end gap-2">
                        <Button small onClick={() => setEditing(undefined)}>
                          Cancel
                        </Button>
                        <Button small look="primary" onClick={() => resend(message, editing.text)}>
                          Send from here
                        </Button>
                      </div>
                    </div>
                  );
                }
                return (
                  <div className="group">
                    <Message message={message} results={results} isRunning={thread.isLoading} />
                    <div className={`flex h-7 items-center gap-1 ${message.type === 'human' ? 'justify-end' : ''}`}>
                      {branches.length > 1 && (
                        <span className="flex items-center text-xs text-muted">
                          <IconButton
                            icon="right"
                            className="rotate-180"
                            label="Earlier branch"
                            disabled={branchAt <= 0}
                            onClick={() => props.onBranch(branches[branchAt - 1])}
                          />
                          {branchAt + 1} / {branches.length}
                          <IconButton
                            icon="right"
                            label="Later branch"
                            disabled={branchAt >= branches.length - 1}
                            onClick={() => props.onBranch(branches[branchAt + 1])}
                          />
                        </span>
                      )}
                      {message.type === 'human' && !thread.isLoading && (
                        <IconButton
                          icon="edit"
                          label="Edit this message and continue from it"
                          className="opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
                          onClick={() => setEditing({ id, text: textOf(message.content) })}
                        />
                      )}
                    </div>
                  </div>
                );
              }}
            </VirtualList>
            {!isChat && Object.keys(thread.values ?? {}).length > 0 && (
              <div className="card p-4">
                <p className="caps mb-2">State</p>
                <JsonView value={thread.values} open={2} />
              </div>
            )}
            {thread.isLoading && (
              <p role="status" className="mt-3 flex items-center gap-2 text-xs text-muted">
                <span className="size-2 animate-pulse-dot rounded-full bg-busy" /> Running
                {queued > 0 && <span>({queued === 1 ? 'one run is' : `${queued} runs are`} queued)</span>}
              </p>
            )}
            {!thread.isLoading && (
              <Waiting
                threadId={threadId}
                interrupts={thread.interrupts}
                head={thread.history.at(-1)}
                proceed={(command) => void thread.submit(null, { ...runOptions, command } as never)}
              />
            )}
            {[thread.error, refusal].map(
              (error, index) =>
                error != null && (
                  <div key={index} className="mt-4">
                    <ErrorBox error={error} />
                  </div>
                ),
            )}
          </div>
        </div>
        {checkpointId && (
          <p className="border-t border-line bg-accent-soft px-4 py-1.5 text-center text-xs text-accent">
            The next message continues from checkpoint {checkpointId.slice(0, 8)}… on a new branch.
          </p>
        )}
        <Composer
          isChat={isChat}
          schema={inputSchema ?? undefined}
          isRunning={thread.isLoading}
          send={send}
          stop={() => void stop()}
          beside={
            <>
              <Button small look="quiet" onClick={() => props.onShowEvents(!showsEvents)} aria-expanded={showsEvents}>
                Events (<EventCount log={log} />)
              </Button>
              {threadId && (
                <Link
                  to={`/threads/${threadId}`}
                  search={{ tab: 'checkpoints' } as never}
                  className="text-xs text-accent underline"
                >
                  Checkpoints
                </Link>
              )}
            </>
          }
        />
      </div>
      {showsEvents && (
        <aside
          aria-label="Events"
          className={`flex shrink-0 flex-col border-l border-line bg-side ${modes.length > 1 ? 'w-[36rem] max-w-[60%]' : 'w-96'}`}
        >
          <Events log={log} omit={SHOWN_BY_CHAT} modes={modes} onModes={props.onModes} />
        </aside>
      )}
    </div>
  );
}
