import type { Observed } from '../backlog.metrics';
import { type Check, Problem } from './finding';

/** Delay in seconds from which it is reported. */
const LATE_SECONDS = 60;

/** Checks of whether workers do what is due. @param observe undefined while the database doesn't answer */
export function backlogChecks(observe: () => Promise<Observed | undefined>): Check[] {
  const backlog = async (): Promise<Observed> => {
    const observed = await observe();
    if (observed) return observed;
    throw new Problem('unknown, since the database does not answer', 'See the finding about the database.');
  };
  const remedy = 'Do the database and Temporal answer?';
  return [
    { name: 'workers', look: async () => checkWorkers((await backlog()).workers), remedy },
    {
      name: 'run queue',
      look: async () =>
        onTime(
          (await backlog()).backlog.queue.unblockedMaxAge,
          'a run that could begin has waited for',
          'Start more workers, or give them more slots.',
        ),
      remedy,
    },
    {
      name: 'webhooks',
      look: async () =>
        onTime(
          (await backlog()).backlog.webhooks.overdue,
          'a delivery is overdue by',
          'Is a worker running that serves the queue of webhooks?',
        ),
      remedy,
    },
    {
      name: 'crons',
      look: async () =>
        onTime(
          (await backlog()).backlog.crons.overdue,
          'a tick is overdue by',
          'Is a worker running, and does Temporal answer?',
        ),
      remedy,
    },
  ];
}

function checkWorkers(count: number | undefined): string {
  if (count === undefined)
    throw new Problem('unknown, since Temporal does not answer', 'See the finding about Temporal.');
  if (count === 0) throw new Problem('none is polling', 'Start one: runs wait until then.');
  return `${count} polling`;
}

function onTime(seconds: number, what: string, remedy: string): string {
  if (seconds <= LATE_SECONDS) return 'on time';
  throw new Problem(`${what} ${Math.round(seconds)} s`, remedy, 'warning');
}
