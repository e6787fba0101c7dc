import { memo } from 'react';
import { useStore } from '../../app/external-store';
import { JsonView } from '../../ui/json-view';
import { whole } from '../../ui/numbers';
import { VirtualList } from '../../ui/virtual-list';
import { STREAM_MODES, type StreamEvent, type StreamLog, type StreamMode } from './stream-log';

/** Height in pixels that an event is assumed to have until it is rendered. */
const EVENT_ESTIMATE = 100;
const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});

/** Number of events so far: a component of its own, so that an event doesn't render the conversation. */
export function EventCount({ log }: { log: StreamLog }) {
  return useStore(log.events).total;
}

const Event = memo(function Event({ event }: { event: StreamEvent }) {
  return (
    <div className="border-b border-line px-3 py-2">
      <p className="flex justify-between gap-2 text-xs">
        <span className="min-w-0 truncate font-medium">{event.name}</span>
        <span className="shrink-0 text-muted tabular-nums">{clock.format(event.at)}</span>
      </p>
      <JsonView value={event.data} open={1} />
    </div>
  );
});

interface ListProps {
  label: string;
  events: readonly StreamEvent[];
  /** Number of events, also of those that are no longer kept. */
  count: number;
}

function EventList({ label, events, count }: ListProps) {
  return (
    <section aria-label={label} className="flex min-h-0 min-w-60 flex-1 flex-col">
      <h2 className="caps shrink-0 border-b border-line px-3 py-1.5">{label}</h2>
      {events.length < count && (
        <p className="shrink-0 border-b border-line px-3 py-1.5 text-xs text-muted">
          The newest {whole(events.length)} of {whole(count)}
        </p>
      )}
      <div className="min-h-0 flex-1 overflow-auto" tabIndex={0}>
        <VirtualList
          items={events.toReversed()}
          keyOf={({ seq }) => String(seq)}
          label={`${label}, newest first`}
          estimate={EVENT_ESTIMATE}
        >
          {(event) => <Event event={event} />}
        </VirtualList>
      </div>
      {events.length === 0 && (
        <p className="p-3 text-xs text-muted">No event of this mode yet: a run emits those that it is created with.</p>
      )}
    </section>
  );
}

interface Props {
  log: StreamLog;
  /** Modes that the list of all events leaves out: they are shown only when they are chosen. */
  omit?: readonly StreamMode[];
  /** Modes that have a list each; without one, all events are in one list. */
  modes: readonly StreamMode[];
  onModes: (modes: StreamMode[]) => void;
}

/** Events of streams as they arrive: in one list, or with the chosen stream modes side by side. */
export function Events({ log, omit = [], modes, onModes }: Props) {
  const { byMode, counts } = useStore(log.events);
  const listed = [...byMode].filter(([mode]) => !omit.some((each) => each === mode));
  const all = listed.flatMap(([, events]) => events).sort((a, b) => a.seq - b.seq);
  const count = listed.reduce((sum, [mode]) => sum + (counts.get(mode) ?? 0), 0);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div role="group" aria-label="Stream modes" className="flex shrink-0 flex-wrap gap-1.5 border-b border-line p-2">
        {STREAM_MODES.map((mode) => {
          const isChosen = modes.includes(mode);
          return (
            <button
              key={mode}
              type="button"
              aria-pressed={isChosen}
              className={`h-6 rounded-full border px-2 text-xs ${isChosen ? 'border-accent bg-accent-soft text-accent' : 'border-strong-line text-soft hover:bg-hover'}`}
              onClick={() => onModes(isChosen ? modes.filter((each) => each !== mode) : [...modes, mode])}
            >
              {mode}
            </button>
          );
        })}
      </div>
      <div className="flex min-h-0 flex-1 divide-x divide-line overflow-x-auto">
        {modes.length === 0 && <EventList label="All events" events={all} count={count} />}
        {modes.map((mode) => (
          <EventList key={mode} label={mode} events={byMode.get(mode) ?? []} count={counts.get(mode) ?? 0} />
        ))}
      </div>
    </div>
  );
}
