import type { PageDefinition } from '../../app/page-registry';

export const webhooks: PageDefinition = {
  path: '/webhooks',
  title: 'Webhooks',
  group: 'Operate',
  icon: 'webhooks',
  load: () => import('./deliveries-page'),
  views: [{ path: '/webhooks/$deliveryId', load: () => import('./delivery-page') }],
};
