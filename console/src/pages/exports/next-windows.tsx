import { Time } from '../../ui/time';
import { type BulkExport, nextWindows } from './exports-api';

const SHOWN = 5;
const minuteOf = (at: Date): string => at.toISOString().slice(0, 16).replace('T', ' ');

/** The windows that a schedule exports next, each with the time at which its export starts. */
export function NextWindows({ of }: { of: BulkExport }) {
  return (
    <ol aria-label="Next windows" className="card divide-y divide-line">
      {nextWindows(of, SHOWN).map(({ start, end, due }) => (
        <li key={start.getTime()} className="flex flex-wrap gap-x-6 px-4 py-2">
          <span className="tabular-nums">{`${minuteOf(start)} to ${minuteOf(end)} UTC`}</span>
          <span className="text-muted">
            exported <Time at={due} />
          </span>
        </li>
      ))}
    </ol>
  );
}
