import type { PageDefinition } from '../app/page-registry';
import { assistants } from './assistants';
import { crons } from './crons';
import { exportsPage } from './exports';
import { home } from './home';
import { inbox } from './inbox';
import { playground } from './playground';
import { protocols } from './protocols';
import { runs } from './runs';
import { settings } from './settings';
import { store } from './store';
import { system } from './system';
import { threads } from './threads';
import { traces } from './traces';
import { webhooks } from './webhooks';

/** Every page, in the order of the navigation. */
export const PAGES: PageDefinition[] = [
  home,
  playground,
  threads,
  runs,
  inbox,
  traces,
  exportsPage,
  crons,
  store,
  webhooks,
  assistants,
  protocols,
  settings,
  system,
];
