import { useStream } from '@langchain/langgraph-sdk/react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { schemasQuery } from '../../api/graph-schemas';
import { sdk } from '../../api/sdk';
import { useStore } from '../../app/external-store';
import { Button, IconButton } from '../../ui/button';
import { ErrorBox } from '../../ui/feedback';
import { JsonView } from '../../ui/json-view';
import { useFollowedEnd } from '../../ui/followed-end';
import { type ChatMessage, textOf, toolCallIds, toolResults } from '../../ui/chat-messages';
import { Message, MESSAGE_ESTIMATE } from '../../ui/messages';
import { VirtualList } from '../../ui/virtual-list';
import { Composer } from './composer';
import { EventCount, Events } from './events';
import { findOrigin, isOther, READ, useHistory } from './history';
import type { RunOptions } from './run-options';
import { useStop } from './stop';
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
  onCheckpoint: (checkpointId: string | undefined) => void;
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
  /** Messages that the server has refused: the hook keeps them in its values. */
  const [refused, setRefused] = useState<readonly unknown[]>([]);
  const [queued, setQueued] = useState(0);
  useEffect(log.open, [log]);
  const schemas = useQuery(schemasQuery(assistantId));
  const history = useHistory(threadId);
  const thread = useStream<Values>({
    client: log.client as never,
    assistantId,
    threadId: threadId ?? null,
    // A thread that is created after the page has been left must not change the address of the next page.
    onThreadId: (created) => log.isOpen && props.onThread(created),
    messagesKey: 'messages',
    reconnectOnMount: true,
    throttle: 30,
    fetchStateHistory: { limit: READ },
    thread: history as never,
    onFinish: () => void queries.invalidateQueries({ predicate: isOther }),
    // It has the message of a run that has failed, and the answer of another person that was first.
    onError: (_, run) => void history.mutate(run?.thread_id ?? threadId).catch(() => undefined),
  });
  const stop = useStop(useStore(log.run), thread.isLoading);
  const place = useFollowedEnd(thread.isLoading);
  const { setBranch } = thread;
  useEffect(() => setBranch(branch ?? ''), [branch, setBranch]);
  const inputSchema = schemas.data?.input_schema;
  const isChat = !inputSchema?.properties || 'messages' in inputSchema.properties;
  const head = thread.history.at(-1);
  const newest = history.data?.[0];
  const accepted = (messages: readonly unknown[]) => messages.filter((each) => !refused.includes(each));
  const messages = accepted(thread.messages) as ChatMessage[];
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
  const createAlongside = async (threadOfRun: string, input: Values): Promise<boolean> => {
    try {
      const { onDisconnect: _, ...payload } = runOptions;
      const created = await sdk.runs.create(threadOfRun, assistantId, {
        ...payload,
        input,
        ...from(checkpointId),
      } as never);
      setQueued((before) => before + 1);
      void thread.joinStream(created.run_id).finally(() => setQueued((before) => before - 1));
      return true;
    } catch (error) {
      setRefusal(error);
      return false;
    }
  };
  /** Resolves at the end of the run to true, or to false when the server has refused to create one. */
  const submit = async (input: Values, submitOptions: object): Promise<boolean> => {
    await thread.submit(input, { ...runOptions, ...submitOptions } as never);
    return log.hasAccepted(input);
  };
  /**
   * Resolves as `submit` does, for a run that answers a question, or continues where the last one stopped. The server refuses it
   * while another run is on: that one may be the answer of another person.
   */
  const proceed = async (command?: { resume: unknown }): Promise<boolean> => {
    await thread.submit(null, { ...runOptions, multitaskStrategy: 'reject', command } as never);
    return command === undefined || log.hasAccepted(command);
  };
  /** Goes to where the new run is: to the end of the thread. Back to where the page was when the server refuses the run. */
  const createRun = async (create: () => Promise<boolean>): Promise<boolean> => {
    setRefusal(undefined);
    if (branch) props.onBranch(undefined);
    if (checkpointId) props.onCheckpoint(undefined);
    const isCreated = await create();
    if (isCreated || !log.isOpen) return isCreated;
    if (branch) props.onBranch(branch);
    if (checkpointId) props.onCheckpoint(checkpointId);
    return false;
  };
  const send = async (input: Values): Promise<boolean> => {
    const sent: unknown[] = Array.isArray(input.messages) ? input.messages : [];
    const optimisticValues = ({ messages: before = [], ...others }: { messages?: unknown[] }) => ({
      ...others,
      messages: [...accepted(before), ...sent],
    });
    const isBeside = thread.isLoading && (options.strategy === 'enqueue' || options.strategy === 'reject');
    const isCreated = await createRun(() =>
      isBeside && threadId
        ? createAlongside(threadId, input)
        : submit(input, { ...from(checkpointId), ...(isChat && !checkpointId && { optimisticValues }) }),
    );
    if (!isCreated) setRefused((before) => [...before, ...sent]);
    return isCreated;
  };
  const resend = async (message: ChatMessage, edited: { id: string; text: string }): Promise<void> => {
    const known = thread.getMessagesMetadata(message as never)?.firstSeenState;
    const oldest = history.data?.length === READ ? history.data.at(-1) : undefined;
    const input = { messages: [{ type: 'human', content: edited.text }] };
    setEditing(undefined);
    const fork = async (): Promise<boolean> => {
      try {
        return await submit(input, { checkpoint: await findOrigin(threadId!, message, known, oldest) });
      } catch (error) {
        setRefusal(error);
        return false;
      }
    };
    if (!(await createRun(fork))) setEditing((since) => since ?? edited);
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
                        <Button small look="primary" onClick={() => void resend(message, editing)}>
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
            <Waiting
              threadId={threadId}
              interrupts={thread.interrupts}
              head={head}
              isNewest={head?.checkpoint.checkpoint_id === newest?.checkpoint.checkpoint_id}
              refresh={() => void history.mutate().catch(() => undefined)}
              isRunning={thread.isLoading}
              proceed={proceed}
              join={(runId) => void thread.joinStream(runId)}
            />
            {[thread.isLoading ? undefined : thread.error, refusal].map(
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
          stop={stop}
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
