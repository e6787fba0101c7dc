import { useMemo } from 'react';
import { Link } from '@tanstack/react-router';
import { Button } from '../../ui/button';
import { whole } from '../../ui/numbers';
import { useNow } from '../../ui/time';
import type { Cron } from './crons-api';
import { weekOf } from './week';

const SHOWN_A_DAY = 8;
/** Interval in milliseconds after which the week is computed again. */
const STEP_MS = 60_000;

const weekday = new Intl.DateTimeFormat(undefined, { weekday: 'short', day: 'numeric', month: 'short' });
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

interface Props {
  /** The newest crons, as far as they are read. */
  crons: Cron[];
  /** Number of all crons. */
  total: number | undefined;
  onMore: () => void;
  nameOf: (cron: Cron) => string;
}

/** Times at which crons are due in the next seven days, in the reader's time zone. */
export default function Calendar({ crons, total = crons.length, onMore, nameOf }: Props) {
  const now = Math.floor(useNow() / STEP_MS) * STEP_MS;
  const days = useMemo(() => weekOf(crons, new Date(now)), [crons, now]);
  return (
    <>
      {crons.length < total && (
        <p className="mb-2 flex items-center gap-3 text-muted">
          {`The newest ${whole(crons.length)} of ${whole(total)} crons`}
          <Button small onClick={onMore}>
            Show more of them
          </Button>
        </p>
      )}
      <div className="grid min-w-160 grid-cols-7 gap-2">
        {days.map(({ day, fires, isCut }) => (
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
                <li className="text-xs text-muted">{`${fires.length - SHOWN_A_DAY}${isCut ? '+' : ''} more`}</li>
              )}
            </ul>
          </section>
        ))}
      </div>
    </>
  );
}
