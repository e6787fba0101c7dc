import type { PageDefinition } from '../../app/page-registry';

export const playground: PageDefinition = {
  path: '/playground',
  title: 'Playground',
  group: 'Work',
  icon: 'playground',
  isServed: ({ assistants, threads, runs }) => assistants && threads && runs,
  load: () => import('./playground-page'),
};
