import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useUrlState } from '../../app/url-state';
import { Loaded } from '../../ui/feedback';
import { TextFilter } from '../../ui/filters';
import { Page } from '../../ui/page';
import { TracedRuns } from './traced-runs';
import { type Project, projectsQuery, type TracedRun } from './traces-api';

const TITLE = 'Runs of all projects';

function RunsOf({ projects }: { projects: Project[] }) {
  const [{ name }, change] = useUrlState();
  const names = useMemo(() => new Map(projects.map((project) => [project.id, project.name])), [projects]);
  const projectIds = useMemo(
    () => projects.filter((project) => !name || matches(project, name)).map(({ id }) => id),
    [projects, name],
  );
  const projectNameOf = useCallback((run: TracedRun) => names.get(run.session_id) ?? '', [names]);
  return (
    <TracedRuns title={TITLE} projectIds={projectIds} projectNameOf={projectNameOf}>
      <TextFilter
        label="Projects with this in their name"
        placeholder="Projects"
        className="w-44"
        value={name}
        onChange={(value) => change({ name: value })}
      />
    </TracedRuns>
  );
}

const matches = (project: Project, text: string): boolean => project.name.toLowerCase().includes(text.toLowerCase());

/** Traced runs of every project in one list: the query takes the ids of all of them. */
export default function AllRunsPage() {
  const projects = useQuery(projectsQuery());
  if (projects.data) return <RunsOf projects={projects.data} />;
  return (
    <Page title={TITLE} parent={{ title: 'Traces', to: '/traces' }}>
      <Loaded of={projects}>{() => null}</Loaded>
    </Page>
  );
}
