import { useMemo } from 'react';
import { Link } from '@tanstack/react-router';
import { useNow } from '../../ui/time';
import type { Cron } from './crons-api';
import { nextFires } from './next-fires';

const DAYS = 7;
const DAY_MS = 86_400_000;
/** Maximum number of entries of one cron: one that is due each minute would fill a week with ten thousand. */
const FIRES_OF_ONE = 200;
const SHOWN_A_DAY = 8;
/** Interval in milliseconds after which the week is computed again. */
const STEP_MS = 60_000;

const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

interface Fire {
  at: Date;
  cron: Cron;
}

/** Times at which crons are due in the next seven days, in the reader's time zone. */
export default function Calendar({ crons, nameOf }: { crons: Cron[]; nameOf: (cron: Cron) => string }) {
  const now = Math.floor(useNow() / STEP_MS) * STEP_MS;
  const days = useMemo(() => {
    const fires = crons
      .filter(({ status }) => status === 'active')
      .flatMap((cron) =>
        nextFires(cron.schedule, cron.timezone, new Date(now), FIRES_OF_ONE)
          .filter((at) => cron.end_time === null || at.getTime() <= Date.parse(cron.end_time))
          .map((at): Fire => ({ at, cron })),
      )
      .sort((a, b) => a.at.getTime() - b.at.getTime());
    return Array.from({ length: DAYS }, (_, index) => {
      const day = new Date(now + index * DAY_MS).toDateString();
      return { day: new Date(now + index * DAY_MS), fires: fires.filter(({ at }) => at.toDateString() === day) };
    });
  }, [crons, now]);
  return (
    <div className="grid min-w-160 grid-cols-7 gap-2">
      {days.map(({ day, fires }) => (
        <section key={day.toDateString()} className="card min-h-40 p-2">
          <h3 className="caps mb-1.5">{weekday.format(day)}</h3>
          <ul className="space-y-1">
            {fires.slice(0, SHOWN_A_DAY).map(({ at, cron }) => (
              <li key={`${cron.cron_id} ${at.getTime()}`} className="truncate text-xs">
                <Link to={`/crons/${cron.cron_id}` as never} className="hover:underline">
                  <span className="text-muted tabular-nums">{clock.format(at)}</span> {nameOf(cron)}
                </Link>
              </li>
            ))}
            {fires.length > SHOWN_A_DAY && (
              <li className="text-xs text-muted">{`${fires.length - SHOWN_A_DAY}${fires.length >= FIRES_OF_ONE ? '+' : ''} more`}</li>
            )}
          </ul>
        </section>
      ))}
    </div>
  );
}
