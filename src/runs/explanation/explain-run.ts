import { runWorkflowId } from '../../../workflows/contracts/run.contract';
import type { CancelReason } from '../run.entity';
import type { RunFacts } from './run-facts';

/** The state of a run, its cause, and what to do about it, in sentences for an operator. */
export interface RunExplanation {
  /** State of the run, in one line. */
  status: string;
  /** Cause of the wait; null when nothing is waited for. */
  waits_for: string | null;
  /** Advice; null when nothing is wrong. */
  advice: string | null;
}

/** Time after which a run that could begin should have begun, in milliseconds. */
const PROMPT_MS = 10_000;

/** Advice for errors that don't come from the graph, by the name in the run's `error`. */
const ADVICE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    RunLost:
      'The process that executed it ended several times at the same node: look for memory, process.exit and native faults in that node.',
    TimeoutError: 'It took longer than GANTRY_RUN_TIMEOUT_SECONDS, time in the queue included.',
    UnstorableResult:
      'Its events contain values that the database cannot store. The log of the worker names the cause.',
    GraphRecursionError:
      'The graph took more steps than its recursion limit: raise `recursion_limit` in the config, or end the loop.',
  }),
);

/** Sentences for the reasons of a cancellation. */
const CANCELLED: Record<CancelReason, string> = {
  requested: 'A client cancelled it.',
  disconnected: 'Its client disconnected (`on_disconnect: "cancel"`).',
  'multitask: another run took its place': 'A later run took its place (`multitask_strategy`).',
  'taken: its input was absorbed by another run': 'Another run absorbed its input.',
  'assistant deleted': 'Its assistant was deleted.',
};

export function explainRun(facts: RunFacts): RunExplanation {
  switch (facts.run.status) {
    case 'pending':
      return explainPending(facts);
    case 'running':
      return explainRunning(facts);
    default:
      return explainEnded(facts);
  }
}

function explainPending(facts: RunFacts): RunExplanation {
  const { run, now, ahead, temporal } = facts;
  const waitMs = run.scheduledAt.getTime() - now.getTime();
  if (waitMs > 0) {
    const at = run.scheduledAt.toISOString();
    return { status: 'The run is delayed.', waits_for: `its time, ${at}, in ${span(waitMs)}`, advice: null };
  }
  const status = `The run has been pending for ${span(-waitMs)}.`;
  if (ahead) {
    const waits_for = `the end of run ${ahead.runId}, which is ${ahead.status} on the same thread`;
    return { status, waits_for, advice: `See why that run isn't over: gantry runs explain ${ahead.runId}` };
  }
  if ('unknown' in temporal) return { status, waits_for: 'a worker', advice: temporal.unknown };
  if (temporal.workers === 0) {
    return {
      status,
      waits_for: 'a worker',
      advice: 'No worker polls Temporal: start one, or see why it has stopped in its log.',
    };
  }
  const isOpen = temporal.workflow?.status === 'RUNNING';
  if (!isOpen) {
    const advice = 'If it stays without one, see in the log of the workers whether their sweeps fail.';
    return { status, waits_for: 'its workflow, which a sweep starts within seconds', advice: late(waitMs, advice) };
  }
  const advice =
    'All slots of the workers may be taken (gantry_runs_active at GANTRY_RUNS_PER_WORKER): start more workers, or raise it.';
  return { status, waits_for: 'a free slot of a worker', advice: late(waitMs, advice) };
}

/** Advice that only applies after a while, since the state is normal at first. */
const late = (waitMs: number, advice: string): string | null => (-waitMs > PROMPT_MS ? advice : null);

function explainRunning(facts: RunFacts): RunExplanation {
  const { run, now, temporal, lostAttempts } = facts;
  const state = run.startedAt ? `has been running for ${span(now.getTime() - run.startedAt.getTime())}` : 'is running';
  const lost = lostAttempts > 0 ? ` Attempts lost since its last checkpoint: ${lostAttempts}.` : '';
  const status = `The run ${state}, in attempt ${run.attempt}.${lost}`;
  const cancel =
    run.cancelAction === null
      ? ''
      : `; it is asked to end (${run.cancelAction}), which takes effect when the node aborts or returns`;
  if ('unknown' in temporal) return { status, waits_for: `the graph${cancel}`, advice: temporal.unknown };
  const { workflow, workers } = temporal;
  const isYoung = run.startedAt !== null && now.getTime() - run.startedAt.getTime() < PROMPT_MS;
  if (workflow === undefined && isYoung && workers > 0)
    return { status, waits_for: `the graph${cancel}`, advice: null };
  if (workflow?.status !== 'RUNNING') {
    const advice = `No workflow ${runWorkflowId(run.runId)} is open: a sweep starts it again within a minute. If it doesn't, see the log of the workers.`;
    return { status, waits_for: 'its workflow', advice };
  }
  if (workers === 0) {
    const advice = 'No worker polls Temporal: start one. It resumes the run from its last checkpoint.';
    return { status, waits_for: 'a worker', advice };
  }
  const failure = workflow.activities.find(({ lastFailure }) => lastFailure)?.lastFailure;
  const node = workflow.activities.map(({ node: name }) => name).find((name) => name !== undefined);
  return {
    status,
    waits_for: `${node === undefined ? 'the graph' : `node "${node}"`}${cancel}`,
    advice: failure === undefined ? null : `The attempt before this one failed: ${failure}`,
  };
}

function explainEnded({ run, asks, delivery, temporal }: RunFacts): RunExplanation {
  const { attempt, startedAt, endedAt } = run;
  const took = attempt > 0 && startedAt && endedAt ? ` after ${span(endedAt.getTime() - startedAt.getTime())}` : '';
  const attempts = run.attempt > 1 ? `, in attempt ${run.attempt}` : '';
  const error = run.error ? ` ${run.error.error}: ${oneLine(run.error.message)}` : '';
  const cancelled =
    run.status === 'interrupted' && run.cancelReason !== null ? ` ${cancellation(run.cancelReason)}` : '';
  const status = `The run ended as ${run.status}${took}${attempts}.${error}${cancelled}`;
  const advice = run.error ? (ADVICE.get(run.error.error) ?? inGraphCode(run.graphId)) : null;
  if (asks) {
    const resume = `Answer with a run on the thread: POST /threads/${run.threadId}/runs with {"command": {"resume": …}}.`;
    return { status, waits_for: 'an answer: the graph stopped at an interrupt', advice: resume };
  }
  if (delivery?.status !== 'pending') return { status, waits_for: null, advice };
  const isStuck = !('unknown' in temporal) && temporal.workers === 0;
  return {
    status,
    waits_for: `its webhook (delivery ${delivery.deliveryId}, attempts so far: ${delivery.attempts})`,
    advice: isStuck ? 'No worker polls Temporal: start one.' : advice,
  };
}

const inGraphCode = (graphId: string): string =>
  `The error comes from the graph's code. Its stack is in the run's trace, in the tracing project "${graphId}".`;

const cancellation = (reason: string): string =>
  Object.hasOwn(CANCELLED, reason) ? CANCELLED[reason as CancelReason] : `It was cancelled: ${reason}.`;

/** The text in one line; the run itself has it as it was thrown. */
const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');

const UNITS: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** A length of time in its two largest units: `2 h 5 min`. */
function span(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  if (first < 0) return `${Math.max(0, Math.round(ms))} ms`;
  const [[name, size], next] = [UNITS[first], UNITS[first + 1] as [string, number] | undefined];
  const rest = next && Math.floor((ms % size) / next[1]);
  return `${Math.floor(ms / size)} ${name}${rest ? ` ${rest} ${next[0]}` : ''}`;
}
