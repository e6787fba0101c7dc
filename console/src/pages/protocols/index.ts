import type { PageDefinition } from '../../app/page-registry';
import { servesAgents, servesTools } from './served';

export const protocols: PageDefinition = {
  path: '/protocols',
  title: 'A2A and MCP',
  group: 'Server',
  icon: 'protocols',
  isServed: (flags) => servesAgents(flags) || servesTools(flags),
  load: () => import('./protocols-page'),
};
