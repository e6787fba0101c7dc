import { Injectable } from '@nestjs/common';
import { issueCallToken } from '../auth/call-token';
import { issueTraceToken } from '../auth/trace-token';
import { AppConfig } from '../config/config';
import { UnknownSealingKey } from '../crypto/secret-box';
import { SecretValues } from '../crypto/secret-values';
import { GraphRegistry } from '../graphs/graph-registry';
import { GraphHosts } from '../graphs/host/graph-hosts';
import type { CommandInput, GraphOutcome } from '../graphs/host/protocol';
import { EventLogRepository } from '../streams/event-log.repository';
import type { AttemptEvents } from './attempt-events';
import type { RunExecution } from './run-execution';
import { RunHeaders } from './run-headers';
import { type OwnedRun, RunLifecycleRepository } from './run-lifecycle.repository';
import type { RunEntity } from './run.entity';

/** Attempts at a run whose secrets no worker can open, before it ends: half an hour, in which keys reach all workers. */
const ATTEMPTS_WITHOUT_KEY = 360;
/** Time to upload the queued part of a trace after its run has ended. */
const UPLOAD_MS = 600_000;

/** Time for which the event of a run's beginning may wait for the first ones of its graph, since one write costs less than two. */
const BEGINNING_MS = 10;

/** Input of a graph for one attempt at a run. */
export interface Attempt {
  execution: RunExecution;
  events: AttemptEvents;
  /** Aborted when the run is to be handed back at its next checkpoint. */
  handBack: AbortSignal;
}

/** Runs the graphs of runs in the graph host, with decrypted secrets and a token for each run. */
@Injectable()
export class RunGraphs {
  constructor(
    private readonly graphs: GraphHosts,
    private readonly registry: GraphRegistry,
    private readonly log: EventLogRepository,
    private readonly lifecycle: RunLifecycleRepository,
    private readonly config: AppConfig,
    private readonly headers: RunHeaders,
    private readonly secretValues: SecretValues,
  ) {}

  /** Revision of the graphs' code that this process runs. */
  get revision(): string {
    return this.registry.revision;
  }

  /**
   * Resolves to how the graph ended; its events are appended as they come.
   * @throws {UnknownSealingKey} if this worker lacks the key of the run's secrets, which another one may have
   */
  async runGraph({ run, before }: OwnedRun, { execution, events, handBack }: Attempt): Promise<GraphOutcome> {
    let secrets: ReturnType<RunGraphs['open']>;
    try {
      secrets = this.open(run);
    } catch (error) {
      if (!(error instanceof UnknownSealingKey)) throw error;
      if (execution.signal.aborted) return { status: 'aborted' };
      if (run.attempt < ATTEMPTS_WITHOUT_KEY) throw error;
      return { status: 'error', error: { error: error.name, message: error.message } };
    }
    const { kwargs, headers } = secrets;
    const emitted = before ? await this.log.findEmitted(run.runId) : { updates: {}, facts: [] };
    const answered = answeredInterrupts(run.kwargs.command);
    const started = { run_id: run.runId, attempt: run.attempt, ...(answered && { answered_interrupts: answered }) };
    void events.append([{ event: 'metadata', data: JSON.stringify(started) }], BEGINNING_MS);
    const { runId, threadId, tenantId, assistantId, graphId, attempt, metadata } = run;
    const onUnknown = this.registry.onUnknown(graphId);
    return this.graphs.execute(
      {
        ...{ runId, threadId, tenantId, assistantId, graphId, attempt, kwargs, metadata, headers, onUnknown },
        callToken: issueCallToken(
          this.config.secrets.key,
          tenantId,
          new Date(),
          kwargs.auth_user,
          this.config.runs.timeoutMs,
        ),
        ...(this.config.traces.ownRuns && { traceKey: this.traceKeyOf(run) }),
        // A temporary thread has no other run.
        threadIsNew: kwargs.temporary && attempt === 1,
        handedBack: before?.handedBack ?? false,
        emitted,
      },
      {
        ...(before?.isSuspect && { onAlone: () => this.lifecycle.recordAlone(runId, attempt) }),
        signal: execution.signal,
        handBack,
        onEvents: (batch) => events.append(batch),
        onNode: (node) => {
          execution.node = node;
        },
      },
    );
  }

  /** Arguments and headers of a run as its graph gets them. */
  private open({ runId, tenantId, kwargs }: RunEntity) {
    const { config, context, auth_user: user } = kwargs;
    return {
      kwargs: {
        ...kwargs,
        ...(config && { config: this.secretValues.open(tenantId, config) }),
        ...(context && { context: this.secretValues.open(tenantId, context) }),
        ...(user && { auth_user: this.secretValues.open(tenantId, user) }),
      },
      headers: this.headers.open(tenantId, runId, kwargs.sealed_headers),
    };
  }

  private traceKeyOf({ tenantId }: RunEntity): string {
    const expiresAt = new Date(Date.now() + this.config.runs.timeoutMs + UPLOAD_MS);
    return issueTraceToken(this.config.secrets.key, tenantId, expiresAt);
  }
}

/** How LangGraph writes the id of an interrupt. */
const INTERRUPT_ID = /^[0-9a-f]{32}$/;

/** The interrupts that a command answers by their ids; undefined when it does not name them. */
function answeredInterrupts(command: CommandInput | undefined): string[] | undefined {
  const { resume } = command ?? {};
  if (typeof resume !== 'object' || resume === null || Array.isArray(resume)) return undefined;
  const ids = Object.keys(resume);
  return ids.length > 0 && ids.every((id) => INTERRUPT_ID.test(id)) ? ids : undefined;
}
