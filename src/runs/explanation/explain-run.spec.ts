import { explainRun } from './explain-run';
import type { RunFacts } from './run-facts';

const NOW = new Date('2026-11-21T12:00:00Z');
const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1000);
const OPEN = { status: 'RUNNING', activities: [], hasTask: false };

function facts(run: Partial<RunFacts['run']>, rest: Partial<RunFacts> = {}): RunFacts {
  return {
    run: {
      runId: 'r1',
      threadId: 't1',
      tenantId: 'w1',
      assistantId: 'a1',
      graphId: 'agent',
      status: 'pending',
      attempt: 0,
      taskQueue: null,
      cancelAction: null,
      cancelReason: null,
      error: null,
      scheduledAt: ago(60),
      createdAt: ago(60),
      startedAt: null,
      endedAt: null,
      ...run,
    },
    lostAttempts: 0,
    threadStatus: 'busy',
    asks: false,
    ahead: null,
    lastEvents: [],
    checkpoint: null,
    delivery: null,
    temporal: { workflow: OPEN, workers: 1 },
    now: NOW,
    ...rest,
  };
}

describe('explainRun', () => {
  const running = { status: 'running', attempt: 1, startedAt: ago(3_900) } as const;
  const ended = { attempt: 1, startedAt: ago(10), endedAt: ago(6) };

  it.each<[string, RunFacts, string, string | null, string | null]>([
    ['delayed', facts({ scheduledAt: ago(-90) }), 'delayed', 'in 1 min 30 s', null],
    [
      'queued after another run',
      facts({}, { ahead: { runId: 'r0', status: 'running' } }),
      'pending for 1 min',
      'run r0, which is running',
      'gantry runs explain r0',
    ],
    ['without a worker', facts({}, { temporal: { workflow: OPEN, workers: 0 } }), 'pending', 'a worker', 'start one'],
    [
      'without a workflow',
      facts({}, { temporal: { workflow: undefined, workers: 1 } }),
      'pending',
      'its workflow',
      'sweeps fail',
    ],
    ['that has just come', facts({ scheduledAt: ago(1) }), 'pending for 1 s', 'a free slot', null],
    ['that no worker takes', facts({}), 'pending', 'a free slot', 'GANTRY_RUNS_PER_WORKER'],
    [
      'of which Temporal says nothing',
      facts({}, { temporal: { unknown: 'no answer' } }),
      'pending',
      'a worker',
      'no answer',
    ],
    [
      'at a node',
      facts(running, {
        temporal: {
          workflow: {
            status: 'RUNNING',
            activities: [
              {
                id: '1',
                type: 'watchRun',
                isStarted: true,
                worker: '1@host',
                attempt: 1,
                node: 'search',
                lastFailure: undefined,
              },
            ],
            hasTask: false,
          },
          workers: 1,
        },
      }),
      'running for 1 h 5 min, in attempt 1',
      'node "search"',
      null,
    ],
    ['to be cancelled', facts({ ...running, cancelAction: 'rollback' }), 'running', 'asked to end (rollback)', null],
    [
      'that has just begun, without a workflow',
      facts({ ...running, startedAt: ago(1) }, { temporal: { workflow: undefined, workers: 1 } }),
      'running for 1 s',
      'the graph',
      null,
    ],
    [
      'whose workflow is gone',
      facts(running, { temporal: { workflow: { status: 'TERMINATED', activities: [], hasTask: false }, workers: 1 } }),
      'running',
      'its workflow',
      'run-r1',
    ],
    [
      'whose workers are gone',
      facts(running, { temporal: { workflow: OPEN, workers: 0 } }),
      'running',
      'a worker',
      'resumes',
    ],
    [
      'whose attempts are lost',
      facts(running, { lostAttempts: 2 }),
      'Attempts lost since its last checkpoint: 2.',
      'the graph',
      null,
    ],
    ['that succeeded', facts({ ...ended, status: 'success' }), 'success after 4 s.', null, null],
    [
      'that failed',
      facts({ ...ended, status: 'error', error: { error: 'TypeError', message: 'no\n  number' } }),
      'error after 4 s. TypeError: no number',
      null,
      'tracing project "agent"',
    ],
    [
      'that a client cancelled',
      facts({ ...ended, attempt: 2, status: 'interrupted', cancelAction: 'interrupt', cancelReason: 'requested' }),
      'interrupted after 4 s, in attempt 2. A client cancelled it.',
      null,
      null,
    ],
    [
      'that was cancelled before its turn, and has a place among the runs of its thread',
      facts({ ...ended, attempt: 0, status: 'interrupted', cancelReason: 'requested' }),
      'The run ended as interrupted. A client cancelled it.',
      null,
      null,
    ],
    [
      'that stopped at an interrupt',
      facts({ ...ended, status: 'success' }, { threadStatus: 'interrupted', asks: true }),
      'success after 4 s.',
      'an answer',
      'POST /threads/t1/runs with {"command": {"resume": …}}',
    ],
    [
      'that failed with a name of every object',
      facts({ ...ended, status: 'error', error: { error: 'constructor', message: 'no' } }),
      'error after 4 s. constructor: no',
      null,
      "the graph's code",
    ],
    [
      'that was lost',
      facts({ ...ended, status: 'error', error: { error: 'RunLost', message: 'gone' } }),
      'RunLost',
      null,
      'memory',
    ],
    [
      'whose webhook is being delivered',
      facts({ ...ended, status: 'success' }, { delivery: { deliveryId: 'd1', status: 'pending', attempts: 3 } }),
      'success',
      'delivery d1, attempts so far: 3',
      null,
    ],
  ])('explains a run %s', (_kind, given, status, waitsFor, advice) => {
    const contains = (text: string | null): unknown => (text === null ? null : expect.stringContaining(text));
    expect(explainRun(given)).toEqual({
      status: contains(status),
      waits_for: contains(waitsFor),
      advice: contains(advice),
    });
  });
});
