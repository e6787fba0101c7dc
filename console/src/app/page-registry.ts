import type { ComponentType } from 'react';
import type { Info } from '../api/info';
import type { IconName } from '../ui/icons';

export const GROUPS = ['Work', 'Observe', 'Operate', 'Server'] as const;

interface View {
  /** Path under `/console`, with parameters in the syntax of TanStack Router: `/threads/$threadId`. */
  path: string;
  /** Loads the module whose default export is the page's component, when the page is opened. */
  load: () => Promise<{ default: ComponentType }>;
}

/** A page with its place in the navigation. */
export interface PageDefinition extends View {
  title: string;
  group: (typeof GROUPS)[number];
  icon: IconName;
  /** Whether the server serves the routes that the page needs, by the `flags` of `/info`. Without them, it is left out. */
  isServed?: (flags: Info['flags']) => boolean;
  /** Pages under this one, such as that of an item of its list. */
  views?: View[];
}
