import type { PageDefinition } from '../../app/page-registry';

export const threads: PageDefinition = {
  path: '/threads',
  title: 'Threads',
  group: 'Work',
  icon: 'threads',
  isServed: ({ threads }) => threads,
  load: () => import('./threads-page'),
  views: [{ path: '/threads/$threadId', load: () => import('./thread-page') }],
};
