import type { PageDefinition } from '../../app/page-registry';

export const assistants: PageDefinition = {
  path: '/assistants',
  title: 'Assistants',
  group: 'Operate',
  icon: 'assistants',
  isServed: ({ assistants }) => assistants,
  load: () => import('./assistants-page'),
  views: [{ path: '/assistants/$assistantId', load: () => import('./assistant-page') }],
};
