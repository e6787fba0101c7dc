import { Menu as Base } from '@base-ui/react/menu';
import type { ReactElement } from 'react';
import { Icon, type IconName } from './icons';

export interface MenuItem {
  label: string;
  icon?: IconName;
  act: () => void;
  isDanger?: boolean;
  isDisabled?: boolean;
}

export function Menu({ trigger, items }: { trigger: ReactElement<Record<string, unknown>>; items: MenuItem[] }) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner sideOffset={4} align="end" className="z-50">
          <Base.Popup className="min-w-44 rounded-lg border border-line bg-surface p-1 shadow-pop outline-none">
            {items.map(({ label, icon, act, isDanger, isDisabled }) => (
              <Base.Item
                key={label}
                disabled={isDisabled}
                onClick={act}
                className={`flex h-8 cursor-default items-center gap-2 rounded-md px-2 outline-none data-[disabled]:opacity-50 data-[highlighted]:bg-hover ${isDanger ? 'text-bad' : 'text-ink'}`}
              >
                {icon && <Icon name={icon} size={15} />}
                {label}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
