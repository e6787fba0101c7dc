import { nextFires, type Schedule } from './next-fires';

const DAYS = 7;
/** Maximum number of times of one cron in a day: one that is due each minute would have more than a thousand. */
const MOST_A_DAY = 24;

interface Scheduled extends Schedule {
  status: string;
}

interface Fire<Item> {
  at: Date;
  cron: Item;
}

export interface Day<Item> {
  day: Date;
  /** The times of the day, the earliest first. */
  fires: Fire<Item>[];
  /** Whether crons have more times in this day than are listed. */
  isCut: boolean;
}

const startOf = (now: Date, day: number): Date => new Date(now.getFullYear(), now.getMonth(), now.getDate() + day);

/** The next seven days in the reader's time zone, with the times at which crons are due. */
export function weekOf<Item extends Scheduled>(crons: Item[], now: Date): Day<Item>[] {
  const active = crons.filter(({ status }) => status === 'active');
  return Array.from({ length: DAYS }, (_, index) => {
    const day = startOf(now, index);
    // A time is due after the first of these moments, and midnight itself belongs to the day.
    const from = index === 0 ? now : new Date(day.getTime() - 1);
    const until = new Date(startOf(now, index + 1).getTime() - 1);
    const found = active.map((cron) => ({ cron, times: nextFires(cron, { from, until, count: MOST_A_DAY + 1 }) }));
    return {
      day,
      fires: found
        .flatMap(({ cron, times }) => times.slice(0, MOST_A_DAY).map((at) => ({ at, cron })))
        .sort((a, b) => a.at.getTime() - b.at.getTime()),
      isCut: found.some(({ times }) => times.length > MOST_A_DAY),
    };
  });
}
