import type { ButtonHTMLAttributes } from 'react';
import { Icon, type IconName } from './icons';

type Look = 'plain' | 'primary' | 'danger' | 'quiet';

const LOOKS: Record<Look, string> = {
  plain: 'border border-strong-line bg-surface text-ink enabled:hover:bg-hover',
  primary: 'border border-transparent bg-accent-fill text-on-accent enabled:hover:brightness-110',
  danger: 'border border-strong-line bg-surface text-bad enabled:hover:bg-bad-soft',
  quiet: 'border border-transparent text-soft enabled:hover:bg-hover enabled:hover:text-ink',
};

/** The classes of a button, for links that look like one. */
export function buttonClass(look: Look = 'plain', isSmall = false): string {
  const size = isSmall ? 'h-7 px-2 text-xs' : 'h-8 px-3 text-sm';
  const shape = 'inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap';
  return `${shape} ${size} ${LOOKS[look]} disabled:cursor-not-allowed disabled:opacity-50`;
}

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  icon?: IconName;
  small?: boolean;
}

export function Button({ look = 'plain', icon, small = false, className = '', children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={`${buttonClass(look, small)} ${className}`} {...rest}>
      {icon && <Icon name={icon} size={small ? 13 : 15} />}
      {children}
    </button>
  );
}

/** A button with only an icon. Its label is read by screen readers and shown on hover. */
export function IconButton({ icon, label, className = '', ...rest }: ButtonProps & { icon: IconName; label: string }) {
  const shape = 'inline-flex size-7 shrink-0 items-center justify-center rounded-md text-muted';
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`${shape} enabled:hover:bg-hover enabled:hover:text-ink disabled:opacity-50 ${className}`}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}
