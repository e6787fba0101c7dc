import { useQueries, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import { Empty, Loaded, Loading } from '../../ui/feedback';
import { JsonDiff } from '../../ui/json-diff';
import { duration, useNow } from '../../ui/time';
import { VirtualList } from '../../ui/virtual-list';
import { type RunSteps, type Step, valuesQuery } from './run-steps';
import type { FoundRun } from './runs-page';

/** Height in pixels that a row is assumed to have until it is rendered. */
const ROW_ESTIMATE = 36;

/** Values before and after a step, which are read when it is opened. */
function Changes({ threadId, step }: { threadId: string; step: Step }) {
  const [before, after] = useQueries({
    queries: [valuesQuery(threadId, step.parent), valuesQuery(threadId, step.id)],
  });
  return (
    <div className="border-t border-line bg-sunken p-4">
      {step.error && <p className="mb-2 font-mono text-xs break-words text-bad">{step.error}</p>}
      <Loaded of={before} lines={2}>
        {(from) => (
          <Loaded of={after} lines={2}>
            {(to) => <JsonDiff before={from ?? undefined} after={to ?? undefined} />}
          </Loaded>
        )}
      </Loaded>
    </div>
  );
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
export function Steps({ of, run, threadId }: { of: UseQueryResult<RunSteps>; run?: FoundRun; threadId: string }) {
  return <Loaded of={of}>{(read) => <Axis read={read} run={run} threadId={threadId} />}</Loaded>;
}

function Axis({ read: { steps, isPartial }, run, threadId }: { read: RunSteps; run?: FoundRun; threadId: string }) {
  const now = useNow();
  /** Steps that are open: a row that was scrolled out of sight is as it was when it comes back. */
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string, isOpen: boolean): void => {
    if (isOpen === opened.has(id)) return;
    setOpened((ids) => new Set(isOpen ? [...ids, id] : [...ids].filter((each) => each !== id)));
  };
  const start = run?.started_at ? Date.parse(run.started_at) : steps[0]?.from;
  if (steps.length === 0 || start === undefined) {
    return (
      <Empty icon="runs" title="No step is stored">
        The run has not made a checkpoint yet, or its thread was deleted with it.
      </Empty>
    );
  }
  const end = run?.ended_at ? Date.parse(run.ended_at) : Math.max(now, steps.at(-1)!.to);
  const length = Math.max(end - start, 1);
  return (
    <div className="card">
      {isPartial && <Loading lines={1} />}
      <VirtualList items={steps} keyOf={({ id }) => id} label="Steps" estimate={ROW_ESTIMATE}>
        {(step, index) => {
          const left = Math.min(Math.max((step.from - start) / length, 0), 1);
          const width = Math.min(Math.max((step.to - Math.max(step.from, start)) / length, 0.004), 1 - left);
          const isOpen = opened.has(step.id);
          return (
            <div className={index > 0 ? 'border-t border-line' : ''}>
              {step.attempt > (steps[index - 1]?.attempt ?? 1) && <HandOver attempt={step.attempt} />}
              <details
                className="group"
                open={isOpen}
                onToggle={({ currentTarget }) => toggle(step.id, currentTarget.open)}
              >
                <summary className="grid grid-cols-[3rem_minmax(6rem,14rem)_1fr_5rem] items-center gap-3 px-4 py-2 hover:bg-hover">
                  <span className="text-xs text-muted tabular-nums">{step.number}</span>
                  <span className="truncate font-mono text-xs" title={step.nodes.join(', ')}>
                    {step.nodes.join(', ') || 'input'}
                  </span>
                  <span className="relative h-3 rounded-sm bg-sunken">
                    <span
                      className={`absolute inset-y-0 rounded-sm ${step.error ? 'bg-bad' : 'bg-accent'}`}
                      style={{ left: `${left * 100}%`, width: `${width * 100}%` }}
                    />
                  </span>
                  <span className="text-right text-xs tabular-nums">{duration(Math.max(step.to - step.from, 0))}</span>
                </summary>
                {isOpen && <Changes threadId={threadId} step={step} />}
              </details>
            </div>
          );
        }}
      </VirtualList>
    </div>
  );
}
