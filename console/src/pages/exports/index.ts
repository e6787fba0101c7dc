import type { PageDefinition } from '../../app/page-registry';

export const exportsPage: PageDefinition = {
  path: '/exports',
  title: 'Exports',
  group: 'Observe',
  icon: 'exports',
  load: () => import('./exports-page'),
  views: [{ path: '/exports/$exportId', load: () => import('./export-page') }],
};
