import type { PageDefinition } from '../../app/page-registry';

export const protocols: PageDefinition = {
  path: '/protocols',
  title: 'A2A and MCP',
  group: 'Server',
  icon: 'protocols',
  load: () => import('./protocols-page'),
};
