import type { PageDefinition } from '../../app/page-registry';

export const traces: PageDefinition = {
  path: '/traces',
  title: 'Traces',
  group: 'Observe',
  icon: 'traces',
  load: () => import('./projects-page'),
  views: [
    { path: '/traces/all', load: () => import('./all-runs-page') },
    { path: '/traces/$projectId', load: () => import('./project-page') },
    { path: '/traces/$projectId/$traceId', load: () => import('./trace-page') },
    { path: '/traces/$projectId/$traceId/$runId', load: () => import('./trace-page') },
  ],
};
