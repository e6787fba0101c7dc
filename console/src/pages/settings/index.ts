import type { PageDefinition } from '../../app/page-registry';

export const settings: PageDefinition = {
  path: '/settings',
  title: 'Settings',
  group: 'Server',
  icon: 'settings',
  load: () => import('./settings-page'),
};
