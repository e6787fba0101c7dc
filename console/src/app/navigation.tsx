import { Link } from '@tanstack/react-router';
import { useInfo } from '../api/info';
import { PAGES } from '../pages/pages';
import { Icon } from '../ui/icons';
import { IconButton } from '../ui/button';
import { useStore } from './external-store';
import { GROUPS } from './page-registry';
import { credentials, signOut } from './session';
import { setTheme, theme } from './theme';

const NEXT_THEME = { system: 'light', light: 'dark', dark: 'system' } as const;

function ThemeButton() {
  const current = useStore(theme);
  const label = `Theme: ${current}. Change to ${NEXT_THEME[current]}`;
  const icon = current === 'dark' ? 'moon' : current === 'light' ? 'sun' : 'system';
  return <IconButton icon={icon} label={label} onClick={() => setTheme(NEXT_THEME[current])} />;
}

function Logo() {
  return (
    <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true">
      <rect width="32" height="32" rx="7" className="fill-accent-fill" />
      <path
        d="M7 10h18M10 10v13M22 10v13M16 10v6M13 16h6v5h-6z"
        fill="none"
        stroke="#fff"
        strokeWidth="2.2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

export function Navigation({ onNavigate }: { onNavigate?: () => void }) {
  const info = useInfo();
  const given = useStore(credentials);
  return (
    <nav aria-label="Pages" className="flex h-full w-52 flex-col border-r border-line bg-side">
      <Link
        to="/"
        onClick={onNavigate}
        className="flex h-13 shrink-0 items-center gap-2.5 px-4 text-[15px] font-semibold tracking-tight"
      >
        <Logo />
        Gantry
      </Link>
      <div className="min-h-0 flex-1 space-y-4 overflow-y-auto px-2 py-2">
        {GROUPS.map((group) => {
          const pages = PAGES.filter(
            (page) => page.group === group && (!info || !page.isServed || page.isServed(info.flags)),
          );
          if (pages.length === 0) return null;
          return (
            <div key={group}>
              <h2 className="caps px-2 pb-1">{group}</h2>
              <ul>
                {pages.map(({ path, title, icon }) => (
                  <li key={path}>
                    <Link
                      to={path}
                      onClick={onNavigate}
                      activeOptions={{ exact: path === '/', includeSearch: false }}
                      className="flex h-8 items-center gap-2.5 rounded-md px-2 font-medium text-soft hover:bg-hover hover:text-ink"
                      activeProps={{ className: 'bg-hover text-ink [&>svg]:text-accent', 'aria-current': 'page' }}
                    >
                      <Icon name={icon} className="text-muted" />
                      {title}
                    </Link>
                  </li>
                ))}
              </ul>
            </div>
          );
        })}
      </div>
      <footer className="flex h-11 shrink-0 items-center gap-1 border-t border-line px-2">
        <span className="min-w-0 flex-1 truncate px-2 text-xs text-muted">{info && `v${info.gantry_version}`}</span>
        {given && <IconButton icon="key" label="Forget the key of this tab" onClick={signOut} />}
        <ThemeButton />
      </footer>
    </nav>
  );
}
