import type { PageDefinition } from '../../app/page-registry';

export const inbox: PageDefinition = {
  path: '/inbox',
  title: 'Interrupt inbox',
  group: 'Work',
  icon: 'inbox',
  isServed: ({ threads }) => threads,
  load: () => import('./inbox-page'),
};
