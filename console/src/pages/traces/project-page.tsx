import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useMemo } from 'react';
import { ErrorBox } from '../../ui/feedback';
import { Page } from '../../ui/page';
import { TracedRuns } from './traced-runs';
import { projectQuery } from './traces-api';

export default function ProjectPage() {
  const { projectId } = useParams({ strict: false }) as { projectId: string };
  const project = useQuery(projectQuery(projectId));
  const projectIds = useMemo(() => [projectId], [projectId]);
  if (project.error) {
    return (
      <Page title="Project" parent={{ title: 'Traces', to: '/traces' }}>
        <ErrorBox error={project.error} retry={() => void project.refetch()} />
      </Page>
    );
  }
  return <TracedRuns key={projectId} title={project.data?.name ?? 'Project'} projectIds={projectIds} />;
}
