import { useState } from 'react';
import { JsonView } from '../../ui/json-view';

export interface StreamEvent {
  at: number;
  name: string;
  data: unknown;
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});

/** Events of a run's stream other than its tokens, as they arrive; each stream mode can be shown alone. */
export function Events({ events }: { events: StreamEvent[] }) {
  const [mode, setMode] = useState('');
  const modes = [...new Set(events.map(({ name }) => name))];
  const shown = events.filter(({ name }) => mode === '' || name === mode).toReversed();
  return (
    <aside aria-label="Events" className="flex w-96 shrink-0 flex-col border-l border-line bg-side">
      <div className="flex shrink-0 items-center gap-2 border-b border-line p-2">
        <select
          aria-label="Stream mode"
          className="field h-7 text-xs"
          value={mode}
          onChange={({ target }) => setMode(target.value)}
        >
          <option value="">All stream modes</option>
          {modes.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      </div>
      <ol className="min-h-0 flex-1 divide-y divide-line overflow-auto">
        {shown.map((event, index) => (
          <li key={shown.length - index} className="px-3 py-2">
            <p className="flex justify-between text-xs">
              <span className="font-medium">{event.name}</span>
              <span className="text-muted tabular-nums">{clock.format(event.at)}</span>
            </p>
            <JsonView value={event.data} open={1} />
          </li>
        ))}
      </ol>
    </aside>
  );
}
