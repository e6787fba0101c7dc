import type { PageDefinition } from '../app/page-registry';
import { home } from './home';
import { inbox } from './inbox';
import { playground } from './playground';
import { runs } from './runs';
import { threads } from './threads';

/** Every page, in the order of the navigation. */
export const PAGES: PageDefinition[] = [home, playground, threads, runs, inbox];
