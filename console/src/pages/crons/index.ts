import type { PageDefinition } from '../../app/page-registry';

export const crons: PageDefinition = {
  path: '/crons',
  title: 'Crons',
  group: 'Operate',
  icon: 'crons',
  isServed: ({ crons }) => crons,
  load: () => import('./crons-page'),
  views: [{ path: '/crons/$cronId', load: () => import('./cron-page') }],
};
