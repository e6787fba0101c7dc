import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import { ApiCall, type Call } from './api-call';
import { buttonClass } from './button';
import { Icon } from './icons';

interface Props {
  title: string;
  /** Link to the parent page. */
  parent?: { title: string; to: string };
  /** Content beside the title, such as a status or an id. */
  beside?: ReactNode;
  actions?: ReactNode;
  call?: Call;
  /** Address of the workflow in Temporal's web UI. */
  temporal?: string;
  children: ReactNode;
  /** Whether parts of the page scroll on their own. */
  fills?: boolean;
}

export function Page({ title, parent, beside, actions, call, temporal, children, fills = false }: Props) {
  useEffect(() => {
    document.title = `${title} · Gantry`;
  }, [title]);
  return (
    <div className="flex h-full min-h-0 flex-col">
      <header className="flex min-h-13 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2 sm:px-6">
        <h1 className="flex min-w-0 items-center gap-1.5 text-[15px] font-semibold tracking-tight">
          {parent && (
            <>
              <Link to={parent.to} className="font-medium text-muted hover:text-ink">
                {parent.title}
              </Link>
              <Icon name="right" size={12} className="text-muted" />
            </>
          )}
          <span className="truncate">{title}</span>
        </h1>
        {beside}
        <div className="ml-auto flex items-center gap-1.5">
          {actions}
          {temporal && (
            <a href={temporal} target="_blank" rel="noreferrer" className={buttonClass('quiet', true)}>
              Temporal
              <Icon name="external" size={12} />
            </a>
          )}
          {call && <ApiCall call={call} />}
        </div>
      </header>
      {fills ? (
        <div className="flex min-h-0 flex-1 flex-col">{children}</div>
      ) : (
        // In the order of the keyboard, so that a page without any control can be scrolled.
        <div tabIndex={0} className="min-h-0 flex-1 overflow-auto px-4 py-4 sm:px-6">
          {children}
        </div>
      )}
    </div>
  );
}

/** A titled part of a page. */
export function Section({
  title,
  beside,
  children,
  className = '',
}: {
  title: string;
  beside?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  return (
    <section className={className}>
      <header className="mb-2 flex h-6 items-center gap-2">
        <h2 className="caps">{title}</h2>
        <div className="ml-auto">{beside}</div>
      </header>
      {children}
    </section>
  );
}

/** Facts as pairs of name and value. */
export function Facts({ facts }: { facts: [name: string, value: ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[max-content_1fr] gap-x-6 gap-y-1.5">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
