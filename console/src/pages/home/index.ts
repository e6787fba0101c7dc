import type { PageDefinition } from '../../app/page-registry';

export const home: PageDefinition = {
  path: '/',
  title: 'Home',
  group: 'Work',
  icon: 'home',
  load: () => import('./home-page'),
};
