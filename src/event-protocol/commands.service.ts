import { Injectable } from '@nestjs/common';
import { isJsonObject } from '../database/json';
import { ApiError } from '../http/api-error';
import { RunCreationService } from '../runs/run-creation.service';
import type { RunOrigin } from '../runs/run-origin';
import type { RunEntity } from '../runs/run.entity';
import { type CreateRun, createRunSchema } from '../runs/runs.schemas';
import { RunStreamsService } from '../runs/run-streams.service';
import { RunsService } from '../runs/runs.service';
import { ThreadPositionsRepository } from '../runs/thread-positions.repository';
import { EventLogRepository } from '../streams/event-log.repository';
import { ThreadsService } from '../threads/threads.service';
import type { ThreadEntity } from '../threads/thread.entity';
import { CommandRefused, refusalOf, refuseThread } from './command-refusals';
import { parseEnvelope } from './envelope.pipe';
import {
  type CommandReply,
  eventStreamSchema,
  inputInjectSchema,
  inputRespondSchema,
  listCheckpointsSchema,
  type ProtocolCommand,
  runStartSchema,
  stateForkSchema,
  stateGetSchema,
  treeSchema,
  unsubscribeSchema,
} from './event-protocol.schemas';
import { type AgentTree, RunTranslator } from './run-translator';
import type { ThreadSubscriptions } from './thread-subscriptions';

/** Stream modes from which the channels are made. */
const STREAM_MODES = ['values', 'updates', 'messages-tuple', 'tools', 'custom', 'tasks'];

const NEWEST = { limit: 1, offset: 0, status: undefined, select: undefined };
const RUNNING = { ...NEWEST, status: 'running' as const };
/** How long an answer waits for the end of the run that asked; what is left after the question takes milliseconds. */
const END_WAIT_MS = 2_000;

/** The sender of a command, and further data of the request. */
export interface CommandContext extends RunOrigin {
  threadId: string;
  /** Subscriptions of a WebSocket; over HTTP each stream is a subscription. */
  subscriptions?: ThreadSubscriptions;
}

type Result = Pick<Extract<CommandReply, { type: 'success' }>, 'result' | 'meta'>;
type Handler = (context: CommandContext, params: Record<string, unknown>) => Promise<Result>;

/** The commands of the event protocol. A failed command is answered with 200 and an error. */
@Injectable()
export class CommandsService {
  private readonly handlers = new Map<string, Handler>([
    ['run.start', (context, params) => this.start(context, params)],
    ['input.respond', (context, params) => this.respond(context, params)],
    ['input.inject', (context, params) => this.inject(context, params)],
    ['state.get', (context, params) => this.state(context, params)],
    ['state.listCheckpoints', (context, params) => this.checkpoints(context, params)],
    ['state.fork', (context, params) => this.fork(context, params)],
    ['agent.getTree', (context, params) => this.tree(context, params)],
    ['subscription.subscribe', (context, params) => this.subscribe(context, params)],
    ['subscription.unsubscribe', (context, params) => this.unsubscribe(context, params)],
  ]);

  constructor(
    private readonly runs: RunsService,
    private readonly creation: RunCreationService,
    private readonly positions: ThreadPositionsRepository,
    private readonly threads: ThreadsService,
    private readonly log: EventLogRepository,
    private readonly streams: RunStreamsService,
  ) {}

  async handle(context: CommandContext, { id, method, params = {} }: ProtocolCommand): Promise<CommandReply> {
    const handler = this.handlers.get(method);
    if (!handler) return { type: 'error', id, error: 'unknown_command', message: `Unknown command: ${method}` };
    try {
      return { type: 'success', id, ...(await handler(context, params)) };
    } catch (error) {
      if (error instanceof CommandRefused) return { type: 'error', id, error: error.code, message: error.message };
      // A thread of another user looks as if it didn't exist.
      if (error instanceof ApiError && error.status < 500 && error.code !== 'thread_not_found') {
        return refusalOf(id, error);
      }
      throw error;
    }
  }

  /** A run with the input, which is an answer where the thread waits for one and the run isn't to begin at a checkpoint. */
  private async start(context: CommandContext, params: Record<string, unknown>): Promise<Result> {
    const { multitaskStrategy, multitask_strategy, input, ...request } = parseEnvelope(runStartSchema, params);
    const thread = await this.threads.findThread(context.tenantId, context.threadId);
    const isFork = typeof request.config?.configurable?.checkpoint_id === 'string';
    const isAnswer = input != null && !isFork && thread !== null && questionsOf(thread).length > 0;
    const command = isCommand(input) ? input : isAnswer && { resume: input };
    const run = await this.createRun(context, {
      ...request,
      multitask_strategy: multitaskStrategy ?? multitask_strategy,
      ...(command ? { command } : { input }),
    });
    return this.started(context, run, { run_id: run.runId });
  }

  private async respond(context: CommandContext, params: Record<string, unknown>): Promise<Result> {
    const { update, goto, config, metadata, strict_resume, ...said } = parseEnvelope(inputRespondSchema, params);
    const answers = 'responses' in said ? said.responses : [said];
    // Asks the custom auth as well: an answer is for who may see the question.
    const thread = await this.askingThread(
      context,
      answers.map(({ interrupt_id: id }) => id),
    );
    const run = await this.createRun(context, {
      assistant_id: String(thread.metadata.assistant_id),
      command: {
        resume: Object.fromEntries(answers.map(({ interrupt_id: id, response }) => [id, response ?? null])),
        update,
        goto,
      },
      config,
      metadata,
      strict_resume,
      // Of two answers at once one is refused as too late.
      multitask_strategy: 'reject',
    });
    return this.started(context, run, {});
  }

  /**
   * The thread that waits for answers to these questions. A client sees a question in the stream before the run that asks has ended,
   * so an answer that comes at once waits for that end.
   */
  private async askingThread({ tenantId, threadId }: CommandContext, ids: string[]): Promise<ThreadEntity> {
    let thread = await this.threads.getThread(tenantId, threadId);
    if (thread.status === 'busy') {
      const [asking] = await this.runs.listRuns(tenantId, threadId, RUNNING);
      if (asking) await this.streams.awaitEnd(tenantId, asking, AbortSignal.timeout(END_WAIT_MS));
      thread = await this.threads.getThread(tenantId, threadId);
    }
    const open = questionsOf(thread);
    const unknown = ids.find((id) => !open.includes(id));
    if (unknown === undefined) return thread;
    throw new CommandRefused('no_such_interrupt', `The thread doesn't wait for an answer to ${unknown}`);
  }

  private createRun(context: CommandContext, request: object): Promise<RunEntity> {
    const body: CreateRun = parseEnvelope(createRunSchema, {
      stream_mode: STREAM_MODES,
      stream_subgraphs: true,
      stream_resumable: true,
      if_not_exists: 'create',
      ...request,
    });
    return this.creation.createRun({ ...context, body: { ...body, event_protocol: true }, isStreamed: true });
  }

  private async started({ tenantId, threadId }: CommandContext, run: RunEntity, result: object): Promise<Result> {
    const seq = await this.positions.findPositionBefore(tenantId, run);
    return { result: { ...result }, meta: { thread_id: threadId, applied_through_seq: seq } };
  }

  private async state({ tenantId, threadId }: CommandContext, params: Record<string, unknown>): Promise<Result> {
    const { namespace = [], keys } = parseEnvelope(stateGetSchema, params);
    const at = namespace.length > 0 ? { checkpoint_ns: namespace.join('|') } : undefined;
    const select = ['checkpoint', ...(keys?.map((key) => `values.${key}`) ?? ['values'])];
    const state = JSON.parse(
      await this.threads.readState(tenantId, threadId, { ...(at && { checkpoint: at }), select }),
    ) as {
      values?: Record<string, unknown>;
      checkpoint: { checkpoint_id: string; checkpoint_ns: string } | null;
    };
    const { values = {}, checkpoint } = state;
    const reference = checkpoint && { id: checkpoint.checkpoint_id, ns: checkpoint.checkpoint_ns };
    return { result: { values, ...(reference && { checkpoint: reference }) }, meta: { thread_id: threadId } };
  }

  private async checkpoints({ tenantId, threadId }: CommandContext, params: Record<string, unknown>): Promise<Result> {
    const { namespace = [], limit, before } = parseEnvelope(listCheckpointsSchema, params);
    const checkpoint = namespace.length > 0 ? { checkpoint_ns: namespace.join('|') } : undefined;
    const select = ['checkpoint_id', 'created_at', 'metadata'];
    const states = JSON.parse(
      await this.threads.readHistory(tenantId, threadId, { limit, before, checkpoint, select }),
    ) as {
      checkpoint_id: string;
      created_at: string;
      metadata: Record<string, unknown>;
    }[];
    const checkpoints = states.map(({ checkpoint_id: id, created_at: timestamp, metadata }) => {
      return { id, timestamp, step: metadata.step ?? -1, metadata };
    });
    return { result: { checkpoints }, meta: { thread_id: threadId } };
  }

  /** A run from an earlier checkpoint of the thread, whose states after it stay in its history. */
  private async fork(context: CommandContext, params: Record<string, unknown>): Promise<Result> {
    const { checkpoint_id: id, input, config } = parseEnvelope(stateForkSchema, params);
    const { tenantId, threadId } = context;
    const thread = await this.threads.getThread(tenantId, threadId);
    const state = await this.threads.readState(tenantId, threadId, {
      checkpoint: { checkpoint_id: id },
      select: ['created_at'],
    });
    // The library shows an empty state where there is no such checkpoint.
    if ((JSON.parse(state) as { created_at: string | null }).created_at === null) {
      throw new CommandRefused('invalid_argument', `checkpoint_id: the thread has no checkpoint ${id}`);
    }
    const run = await this.createRun(context, {
      assistant_id: String(thread.metadata.assistant_id),
      checkpoint: { checkpoint_id: id },
      input,
      config,
    });
    return this.started(context, run, { run_id: run.runId, thread_id: threadId });
  }

  /** Nothing can be inserted into a running step: the message is the input of a run after the one in flight, if any. */
  private async inject(context: CommandContext, params: Record<string, unknown>): Promise<Result> {
    const { message } = parseEnvelope(inputInjectSchema, params);
    const thread = await this.threads.getThread(context.tenantId, context.threadId);
    const { assistant_id: assistant } = thread.metadata;
    if (typeof assistant !== 'string') throw new CommandRefused('no_such_run', 'No run was started on this thread');
    if (questionsOf(thread).length > 0) {
      throw new CommandRefused('not_supported', 'The thread waits for an answer: send it by input.respond');
    }
    const run = await this.createRun(context, {
      assistant_id: assistant,
      input: { messages: [message] },
      multitask_strategy: 'enqueue',
    });
    return this.started(context, run, {});
  }

  /** The nested graphs of a run, the newest one unless another is named, as far as they have begun. */
  private async tree({ tenantId, threadId }: CommandContext, params: Record<string, unknown>): Promise<Result> {
    const { run_id: runId } = parseEnvelope(treeSchema, params);
    const [newest] = await this.runs.listRuns(tenantId, threadId, NEWEST);
    const run = runId ? await this.runs.getRun(tenantId, runId, threadId) : newest;
    if (!run) throw new CommandRefused('no_such_run', 'No run was started on this thread');
    const tree: AgentTree = await this.treeOf(run);
    return { result: { tree }, meta: { thread_id: threadId } };
  }

  private async subscribe(context: CommandContext, params: Record<string, unknown>): Promise<Result> {
    const { since, ...filter } = parseEnvelope(eventStreamSchema, params);
    const { tenantId, threadId } = context;
    const subscriptions = subscriptionsOf(context);
    if (subscriptions.isFull) throw new CommandRefused('not_supported', 'There are too many subscriptions');
    const thread = await this.threads.getIfThere(tenantId, threadId).catch(refuseThread);
    const { id, replayed } = await subscriptions.add(filter, since, thread !== null);
    const result = { subscription_id: id, ...(replayed !== undefined && { replayed_events: replayed }) };
    return { result, meta: { thread_id: threadId } };
  }

  private async unsubscribe(context: CommandContext, params: Record<string, unknown>): Promise<Result> {
    const { subscription_id: id } = parseEnvelope(unsubscribeSchema, params);
    if (!subscriptionsOf(context).delete(id)) {
      throw new CommandRefused('no_such_subscription', `There is no subscription ${id}`);
    }
    return Promise.resolve({ result: {}, meta: { thread_id: context.threadId } });
  }

  private async treeOf({ runId, graphId }: RunEntity): Promise<AgentTree> {
    const translator = new RunTranslator(graphId);
    for await (const events of this.log.readAll(runId)) {
      for (const event of events) for (const _emitted of translator.translate(event));
    }
    return translator.tree();
  }
}

function subscriptionsOf({ subscriptions }: CommandContext): ThreadSubscriptions {
  if (subscriptions) return subscriptions;
  throw new CommandRefused('not_supported', 'Subscriptions are for WebSockets: POST …/stream/events is one by itself');
}

/** Whether an input is a `Command` of LangGraph: its clients send one in the place of the input. */
function isCommand(input: unknown): boolean {
  return isJsonObject(input) && input.lg_name === 'Command';
}

/** Ids of the thread's open interrupts; none while a run is in flight on it. */
function questionsOf({ status, interrupts }: ThreadEntity): string[] {
  if (status === 'busy') return [];
  return Object.values(interrupts)
    .flat()
    .map((interrupt) => (interrupt as { id?: string }).id)
    .filter((id) => typeof id === 'string');
}
