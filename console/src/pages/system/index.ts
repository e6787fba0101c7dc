import type { PageDefinition } from '../../app/page-registry';

export const system: PageDefinition = {
  path: '/system',
  title: 'System',
  group: 'Server',
  icon: 'system',
  load: () => import('./system-page'),
};
