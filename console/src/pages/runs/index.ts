import type { PageDefinition } from '../../app/page-registry';

export const runs: PageDefinition = {
  path: '/runs',
  title: 'Runs',
  group: 'Work',
  icon: 'runs',
  isServed: ({ runs }) => runs,
  load: () => import('./runs-page'),
  views: [{ path: '/runs/$runId', load: () => import('./run-page') }],
};
