import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

export interface Tab {
  value: string;
  label: ReactNode;
  content: ReactNode;
}

interface Props {
  tabs: Tab[];
  value: string;
  onChange: (value: string) => void;
  /** Label of the tabs for screen readers. */
  label: string;
  className?: string;
  /** Whether the tabs fill the page, with parts that scroll on their own. */
  fills?: boolean;
}

export function Tabs({ tabs, value, onChange, label, className = '', fills = false }: Props) {
  return (
    <Base.Root
      value={value}
      onValueChange={(next) => onChange(String(next))}
      className={`flex min-h-0 flex-col ${fills ? 'flex-1' : ''} ${className}`}
    >
      <Base.List
        aria-label={label}
        className={`flex shrink-0 gap-4 overflow-x-auto border-b border-line ${fills ? 'px-4 pt-2 sm:px-6' : ''}`}
      >
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.value}
            value={tab.value}
            className="-mb-px border-b-2 border-transparent py-2 text-sm font-medium whitespace-nowrap text-muted hover:text-ink data-[active]:border-accent data-[active]:text-ink"
          >
            {tab.label}
          </Base.Tab>
        ))}
      </Base.List>
      {tabs.map((tab) => (
        <Base.Panel
          key={tab.value}
          value={tab.value}
          className={`min-h-0 flex-1 pt-3 outline-none ${fills ? 'flex flex-col' : ''}`}
        >
          {tab.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
