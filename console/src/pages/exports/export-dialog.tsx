import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useDeferredValue, useState } from 'react';
import { messageOf } from '../../api/failure';
import { FormDialog } from '../../ui/form-dialog';
import { SelectField, TextField } from '../../ui/form-field';
import { whole } from '../../ui/numbers';
import { Time } from '../../ui/time';
import { FilterInput } from '../traces/filter-input';
import { listRuns, projectsQuery, readStats, utc } from '../traces/traces-api';
import { createExport, destinationsQuery } from './exports-api';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The end of the first window of a schedule; undefined where the fields have no time or number that is one. */
function firstEnd(start: string, hours: string): string | undefined {
  const end = new Date(Date.parse(start) + Number(hours) * HOUR_MS);
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString();
}

const COMPRESSIONS = [
  ['zstandard', 'Zstandard'],
  ['snappy', 'Snappy'],
  ['gzip', 'Gzip'],
  ['none', 'None'],
] as const;

/** Runs that the preview lists. */
const LISTED = 5;

/** Preview of an export by the query of the trace pages: the number of its rows, and the newest of them. */
function Preview({ project, start, end, filter }: { project: string; start: string; end: string; filter: string }) {
  const query = useQuery({
    queryKey: ['exports', 'preview', project, start, end, filter],
    queryFn: async () => {
      const selection = { session: [project], start_time: start, end_time: end, ...(filter && { filter }) };
      const [stats, { runs }] = await Promise.all([readStats(selection), listRuns(selection, undefined, LISTED)]);
      return { count: stats.run_count, runs };
    },
    retry: false,
  });
  return (
    <div className={`rounded-md bg-sunken px-3 py-2 ${query.error ? 'text-bad' : 'text-soft'}`} role="status">
      <p>
        {query.error
          ? messageOf(query.error)
          : query.data
            ? `${whole(query.data.count)} runs are selected now.`
            : 'Counting the runs…'}
      </p>
      {query.data && query.data.runs.length > 0 && (
        <ul aria-label="The newest of them" className="mt-1 text-xs">
          {query.data.runs.map((run) => (
            <li key={run.id} className="flex gap-3">
              <span className="min-w-0 flex-1 truncate">{run.name}</span>
              <span>{run.run_type}</span>
              <span>{run.status}</span>
              <Time at={utc(run.start_time)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

export function ExportDialog({ onClose }: { onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const projects = useQuery(projectsQuery()).data ?? [];
  const destinations = useQuery(destinationsQuery).data;
  const [project, setProject] = useState('');
  const [destination, setDestination] = useState('');
  const [repeats, setRepeats] = useState<'once' | 'schedule'>('once');
  const [start, setStart] = useState(() => dayOf(Date.now() - 7 * DAY_MS));
  const [end, setEnd] = useState(() => dayOf(Date.now() + DAY_MS));
  const [hours, setHours] = useState('24');
  const [filter, setFilter] = useState('');
  const [compression, setCompression] = useState<(typeof COMPRESSIONS)[number][0]>('zstandard');
  const counted = useDeferredValue(filter);
  const instant = (day: string): string => `${day}T00:00:00Z`;
  const isScheduled = repeats === 'schedule';
  const until = isScheduled ? firstEnd(instant(start), hours) : end && instant(end);

  const submit = async (): Promise<void> => {
    const made = await createExport({
      bulk_export_destination_id: destination || destinations?.[0]?.id,
      session_id: project,
      start_time: instant(start),
      ...(isScheduled ? { interval_hours: Number(hours) } : { end_time: instant(end) }),
      ...(filter && { filter }),
      compression,
    });
    await client.invalidateQueries({ queryKey: ['exports'] });
    void navigate({ to: `/exports/${made.id}` as never });
  };
  if (destinations?.length === 0) {
    return (
      <FormDialog title="New export" action="Close" submit={() => Promise.resolve()} onClose={onClose}>
        <p>There is no destination to write to yet. Create one first: a bucket, and the credentials to write to it.</p>
      </FormDialog>
    );
  }
  return (
    <FormDialog title="New export" action="Start export" submit={submit} onClose={onClose} wide>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label="Project"
          value={project}
          onChange={setProject}
          options={[['', 'Choose a project'], ...projects.map(({ id, name }) => [id, name] as const)]}
        />
        <SelectField
          label="Destination"
          value={destination || (destinations?.[0]?.id ?? '')}
          onChange={setDestination}
          options={(destinations ?? []).map(({ id, display_name: name }) => [id, name] as const)}
        />
        <SelectField
          label="Repeats"
          value={repeats}
          onChange={setRepeats}
          options={[
            ['once', 'Once'],
            ['schedule', 'On a schedule'],
          ]}
        />
        <SelectField label="Compression" value={compression} onChange={setCompression} options={COMPRESSIONS} />
        <TextField label="From" hint="UTC, inclusive" type="date" value={start} onChange={setStart} isRequired />
        {isScheduled ? (
          <TextField
            label="Hours of each window"
            hint="1 to 168. A window is exported ten minutes after its end."
            type="number"
            value={hours}
            onChange={setHours}
            isRequired
          />
        ) : (
          <TextField label="To" hint="UTC, exclusive" type="date" value={end} onChange={setEnd} isRequired />
        )}
      </div>
      <FilterInput value={filter} onChange={setFilter} />
      {project && start && until && <Preview project={project} start={instant(start)} end={until} filter={counted} />}
    </FormDialog>
  );
}
