import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { TenantId } from '../auth/tenant';
import type { StreamMode } from '../graphs/host/protocol';
import { Drain } from '../http/drain';
import { LateJsonResponse, sseFrame, SseResponse, type StreamingResponse } from '../http/streaming';
import { FeedbackLinks } from '../traces/feedback/feedback-links';
import { EventLogRepository } from '../streams/event-log.repository';
import { EventReader, type ReadRun } from '../streams/event-reader';
import { END_EVENT, type RunEnd, type RunEvent } from '../streams/run-event';
import { ThreadsService } from '../threads/threads.service';
import { RunEntity } from './run.entity';
import type { JoinStreamQuery } from './runs.schemas';
import { RunsService } from './runs.service';

export interface StreamOptions {
  /** Sequence number after which events are sent; -1 for all. */
  after: number;
  /** Only events of these modes. */
  modes?: StreamMode[] | undefined;
  /** Only events of these graphs. */
  namespaces?: string[] | undefined;
  /** Only events after this checkpoint, where `after` is -1 and the run has it. */
  checkpointId?: string | undefined;
  /** The run ends when this client goes. */
  cancelOnDisconnect: boolean;
}

type RejoinOptions = Omit<StreamOptions, 'after'>;

export interface AwaitOptions {
  /** Called with the events of the run, in their order. */
  onEvents?: (events: RunEvent[]) => Promise<void>;
  /** Sequence number of the event after which to begin. */
  after?: number | undefined;
}

/** Answers that wait for a run: its events as they come, or its result. Everything comes from the event log. */
@Injectable()
export class RunStreamsService {
  constructor(
    private readonly reader: EventReader,
    private readonly log: EventLogRepository,
    private readonly runs: RunsService,
    private readonly threads: ThreadsService,
    private readonly drain: Drain,
    private readonly links: FeedbackLinks,
  ) {}

  /** Server-sent events until the run's end. A client may come back with the last id that it saw. */
  async streamRun(tenantId: TenantId, run: RunEntity, reply: FastifyReply, options: StreamOptions): Promise<void> {
    const response = new SseResponse(reply, locations(run, 'stream', options));
    const isOfMode = modeFilter(options.modes);
    const isOfGraph = namespaceFilter(options.namespaces);
    for await (const events of this.follow(tenantId, run, response.signal, await this.position(run, options))) {
      const frames = events
        .filter(({ event }) => event !== END_EVENT && isOfMode(event) && isOfGraph(event))
        .map(({ event, data, seq }) => sseFrame(event, data, seq));
      const last = events.at(-1);
      const links = this.feedbackLinks(run);
      // In the place of the end, which clients don't see.
      if (links && last?.event === END_EVENT) frames.push(sseFrame('feedback', JSON.stringify(links), last.seq));
      await response.write(frames.join(''));
    }
    await this.close(tenantId, run, response, options.cancelOnDisconnect);
  }

  /** The same for a request that joins a run's stream after an event that it has seen. */
  rejoinRun(
    tenantId: TenantId,
    run: RunEntity,
    reply: FastifyReply,
    after: number,
    query: JoinStreamQuery,
  ): Promise<void> {
    return this.streamRun(tenantId, run, reply, {
      after,
      modes: query.stream_mode,
      namespaces: query.namespace,
      checkpointId: query.checkpoint_id,
      cancelOnDisconnect: query.cancel_on_disconnect ?? false,
    });
  }

  /** The run's result when it ends, whenever that is. */
  async sendResult(
    tenantId: TenantId,
    run: RunEntity,
    reply: FastifyReply,
    cancelOnDisconnect: boolean,
  ): Promise<void> {
    const response = new LateJsonResponse(reply, locations(run, 'join', { cancelOnDisconnect }));
    const end = await this.awaitEnd(tenantId, run, response.signal);
    const result = end && JSON.stringify(this.withFeedback(run, end.result));
    await this.close(tenantId, run, response, cancelOnDisconnect, result);
  }

  /**
   * How the run ends, whenever that is, with its events until then: for answers in the terms of another protocol.
   * @returns undefined when `signal` came first
   */
  async awaitEnd(
    tenantId: TenantId,
    run: RunEntity,
    signal: AbortSignal,
    { onEvents, after = -1 }: AwaitOptions = {},
  ): Promise<RunEnd | undefined> {
    const end = onEvents
      ? await this.emit(this.follow(tenantId, run, signal, after), onEvents)
      : await this.reader.readEnd(this.readRun(tenantId, run), signal);
    if (signal.aborted) return undefined;
    return end ? (JSON.parse(end.data) as RunEnd) : this.storedEnd(tenantId, run);
  }

  private async position({ runId }: RunEntity, { after, checkpointId }: StreamOptions): Promise<number> {
    return after === -1 && checkpointId !== undefined ? this.log.positionOf(runId, checkpointId) : after;
  }

  /** Emits the events until the end, and resolves to the one that ends the log. */
  private async emit(
    log: AsyncGenerator<RunEvent[]>,
    onEvents: (events: RunEvent[]) => Promise<void>,
  ): Promise<RunEvent | undefined> {
    let last: RunEvent | undefined;
    for await (const events of log) {
      last = events.at(-1);
      await onEvents(events.filter(({ event }) => event !== END_EVENT));
    }
    return last?.event === END_EVENT ? last : undefined;
  }

  private follow(tenantId: TenantId, run: RunEntity, signal: AbortSignal, after: number): AsyncGenerator<RunEvent[]> {
    return this.reader.followRun(this.readRun(tenantId, run), after, signal);
  }

  private readRun(tenantId: TenantId, { runId, status }: RunEntity): ReadRun {
    return { runId, wasPending: status === 'pending', isOver: () => this.runs.isOver(tenantId, runId) };
  }

  private async close(
    tenantId: TenantId,
    run: RunEntity,
    response: StreamingResponse,
    cancelOnDisconnect: boolean,
    text?: string,
  ): Promise<void> {
    if (!response.signal.aborted) return response.end(text);
    // What to do when the client goes says nothing about a connection that this server closes.
    const isClosedHere = response.isBrokenOff || this.drain.isDraining;
    if (cancelOnDisconnect && !isClosedHere) await this.runs.cancelIfInFlight(tenantId, run.runId, 'interrupt');
  }

  /** The end of a run whose events have expired: what its row says and its thread holds. */
  private async storedEnd(tenantId: TenantId, run: RunEntity): Promise<RunEnd> {
    const now = await this.runs.findRun(tenantId, run.runId);
    const status = (now?.status ?? 'deleted') as RunEnd['status'];
    const error = now?.error;
    if (error) return { status, result: { __error__: error } };
    return { status, result: (await this.threads.findThread(tenantId, run.threadId))?.values ?? {} };
  }

  /** Where the run's user can say how it was, if the run asked for that. */
  private feedbackLinks({ tenantId, runId, createdAt, kwargs }: RunEntity): Record<string, string> | undefined {
    const { feedback_keys: keys } = kwargs;
    return keys?.length ? this.links.of(tenantId, runId, createdAt, keys) : undefined;
  }

  private withFeedback(run: RunEntity, result: unknown): unknown {
    const links = this.feedbackLinks(run);
    const isOpen = typeof result === 'object' && result !== null && !Array.isArray(result);
    return links && isOpen ? { ...result, __feedback__: links } : result;
  }
}

/** Where the run is. */
export function pathOf(run: RunEntity): string {
  return run.kwargs.temporary ? `/runs/${run.runId}` : `/threads/${run.threadId}/runs/${run.runId}`;
}

/** Where the run is, and where a client that lost the connection finds the same answer again. */
function locations(run: RunEntity, rejoin: 'stream' | 'join', options: RejoinOptions): Record<string, string> {
  const path = pathOf(run);
  const query = rejoinQuery(options);
  return { 'Content-Location': path, Location: `${path}/${rejoin}${query && `?${query}`}` };
}

/** Query of the request that rejoins a run, with which it gets the same: clients add nothing of their own then. */
function rejoinQuery({ modes, namespaces, checkpointId, cancelOnDisconnect }: RejoinOptions): string {
  return new URLSearchParams({
    ...(cancelOnDisconnect && { cancel_on_disconnect: '1' }),
    ...(modes && { stream_mode: JSON.stringify(modes) }),
    ...(namespaces && { namespace: JSON.stringify(namespaces) }),
    ...(checkpointId !== undefined && { checkpoint_id: checkpointId }),
  }).toString();
}

/** Which events a list of modes means: `messages` in either form, and a mode's events of nested graphs. */
function modeFilter(modes: StreamMode[] | undefined): (event: string) => boolean {
  if (!modes) return () => true;
  const names = new Set<string>(modes.map((mode) => (mode === 'messages-tuple' ? 'messages' : mode)));
  return (event) => event === 'error' || names.has(event.split(/[|/]/, 1)[0]);
}

/** Events that are the whole run's. */
const OF_RUN: ReadonlySet<string> = new Set(['metadata', 'error']);

/** Which events a list of namespaces means: those of the graphs and of graphs in them, but not of subagents that these start. */
export function namespaceFilter(namespaces: string[] | undefined): (event: string) => boolean {
  if (!namespaces) return () => true;
  return (event) => {
    const [name, ...path] = event.split('|');
    return (
      OF_RUN.has(name) || namespaces.some((namespace) => isWithin(path, namespace === '' ? [] : namespace.split('|')))
    );
  };
}

function isWithin(path: string[], namespace: string[]): boolean {
  const rest = path.slice(namespace.length);
  return namespace.every((part, index) => part === path[index]) && !rest.some(isSubagent);
}

/** A graph that a tool runs: clients know subagents by the name of the node of tools. */
function isSubagent(part: string): boolean {
  return part.startsWith('tools:');
}
