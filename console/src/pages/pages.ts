import type { PageDefinition } from '../app/page-registry';
import { home } from './home';

/** Every page, in the order of the navigation. */
export const PAGES: PageDefinition[] = [home];
