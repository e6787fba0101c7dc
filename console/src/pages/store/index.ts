import type { PageDefinition } from '../../app/page-registry';

export const store: PageDefinition = {
  path: '/store',
  title: 'Store',
  group: 'Operate',
  icon: 'store',
  isServed: ({ store }) => store,
  load: () => import('./store-page'),
};
