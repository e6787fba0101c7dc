import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { sdk } from '../../api/sdk';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { JsonDiff } from '../../ui/json-diff';
import { duration, useNow } from '../../ui/time';
import { VirtualList } from '../../ui/virtual-list';
import type { FoundRun } from './runs-page';

const MOST = 200;
/** Height in pixels that a row is assumed to have until it is rendered. */
const ROW_ESTIMATE = 36;

/** One superstep of a run, from the checkpoint before it to its own. */
export interface Step {
  id: string;
  number: number | undefined;
  /** Attempt at the run that made the step's checkpoint. */
  attempt: number;
  /** Nodes that wrote in this step. */
  nodes: string[];
  /** Nodes that were due after it: none at the end of the graph. */
  next: string[];
  from: number;
  to: number;
  before: unknown;
  values: unknown;
  error: string | undefined;
}

interface StepMetadata {
  step?: number;
  run_id?: string;
  run_attempt?: number;
}

/** The steps of a run from the checkpoints that it has written, oldest first. */
export function useSteps(threadId: string | undefined, runId: string, isLive: boolean): UseQueryResult<Step[]> {
  return useQuery({
    queryKey: ['steps', runId, isLive],
    enabled: threadId !== undefined,
    refetchInterval: isLive ? 1_000 : false,
    queryFn: async () => {
      const states = (await sdk.threads.getHistory(threadId!, { limit: MOST })).toReversed();
      return states.flatMap((state, index): Step[] => {
        const { step, run_id, run_attempt = 1 } = (state.metadata ?? {}) as StepMetadata;
        const parent = states.find(
          ({ checkpoint }) => checkpoint.checkpoint_id === state.parent_checkpoint?.checkpoint_id,
        );
        if (run_id !== runId) return [];
        const to = Date.parse(state.created_at ?? '');
        return [
          {
            id: state.checkpoint.checkpoint_id ?? String(index),
            number: step,
            attempt: run_attempt,
            nodes: parent ? [...new Set(parent.next)] : [],
            next: state.next,
            from: parent ? Date.parse(parent.created_at ?? '') : to,
            to,
            before: parent?.values,
            values: state.values,
            error: state.tasks.map((task) => task.error).find(Boolean) ?? undefined,
          },
        ];
      });
    },
  });
}

/** The place where another attempt resumed the run, above its first step. */
function HandOver({ attempt }: { attempt: number }) {
  return (
    <p className="flex gap-2 bg-wait-soft px-4 py-1.5 text-xs text-wait">
      <span className="font-medium">Attempt {attempt}</span>
      <span>The process of the attempt before it was lost or stopped, and the run resumed here.</span>
    </p>
  );
}

/** The steps on an axis of time, each with what it changed. */
export function Steps({ steps, run }: { steps: UseQueryResult<Step[]>; run: FoundRun | undefined }) {
  const now = useNow();
  if (steps.isError) return <ErrorBox error={steps.error} />;
  if (!steps.data) return <Loading lines={5} />;
  const start = run?.started_at ? Date.parse(run.started_at) : steps.data[0]?.from;
  if (steps.data.length === 0 || start === undefined) {
    return (
      <Empty icon="runs" title="No step is stored">
        The run has not made a checkpoint yet, or its thread was deleted with it.
      </Empty>
    );
  }
  const end = run?.ended_at ? Date.parse(run.ended_at) : Math.max(now, steps.data.at(-1)!.to);
  const length = Math.max(end - start, 1);
  return (
    <div className="card">
      <VirtualList items={steps.data} keyOf={({ id }) => id} label="Steps" estimate={ROW_ESTIMATE}>
        {(step, index) => {
          const left = Math.min(Math.max((step.from - start) / length, 0), 1);
          const width = Math.min(Math.max((step.to - Math.max(step.from, start)) / length, 0.004), 1 - left);
          return (
            <div className={index > 0 ? 'border-t border-line' : ''}>
              {step.attempt > (steps.data[index - 1]?.attempt ?? 1) && <HandOver attempt={step.attempt} />}
              <details className="group">
                <summary className="grid grid-cols-[3rem_minmax(6rem,14rem)_1fr_5rem] items-center gap-3 px-4 py-2 hover:bg-hover">
                  <span className="text-xs text-muted tabular-nums">{step.number}</span>
                  <span className="truncate font-mono text-xs">{step.nodes.join(', ') || 'input'}</span>
                  <span className="relative h-3 rounded-sm bg-sunken">
                    <span
                      className={`absolute inset-y-0 rounded-sm ${step.error ? 'bg-bad' : 'bg-accent'}`}
                      style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
                    />
                  </span>
                  <span className="text-right text-xs tabular-nums">{duration(Math.max(step.to - step.from, 0))}</span>
                </summary>
                <div className="border-t border-line bg-sunken p-4">
                  {step.error && <p className="mb-2 font-mono text-xs text-bad">{step.error}</p>}
                  <JsonDiff before={step.before} after={step.values} />
                </div>
              </details>
            </div>
          );
        }}
      </VirtualList>
    </div>
  );
}
