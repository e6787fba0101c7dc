import type { ComponentType } from 'react';
import type { IconName } from '../ui/icons';

export const GROUPS = ['Work', 'Observe', 'Operate', 'Server'] as const;

interface View {
  /** Below `/console`, with parameters as TanStack Router writes them: `/threads/$threadId`. */
  path: string;
  /** The module with the component as its default export: it is loaded when the page is opened. */
  load: () => Promise<{ default: ComponentType }>;
}

/** A page with its place in the navigation. */
export interface PageDefinition extends View {
  title: string;
  group: (typeof GROUPS)[number];
  icon: IconName;
  /** Name in `flags` of `/info`: the page is left out where the server serves no such routes. */
  flag?: string;
  /** Pages below it, such as that of one thing of its list. */
  views?: View[];
}
