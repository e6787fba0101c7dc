import { createRootRoute, createRoute, createRouter, lazyRouteComponent, Link } from '@tanstack/react-router';
import { PAGES } from '../pages/pages';
import { Empty, ErrorBox, Loading } from '../ui/feedback';
import { CONSOLE_PATH } from './base';
import { Shell } from './shell';
import { parseSearch, stringifySearch } from './url-state';

const root = createRootRoute({ component: Shell });

const routes = PAGES.flatMap((page) => [page, ...(page.views ?? [])]).map(({ path, load }) =>
  createRoute({
    getParentRoute: () => root,
    path,
    component: lazyRouteComponent(load),
    // What was opened or entered for one thread, run or cron is never used on another.
    remountDeps: ({ params }) => params,
  }),
);

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: CONSOLE_PATH,
  parseSearch,
  stringifySearch: (search) => stringifySearch(search as Record<string, string>),
  defaultPreload: 'intent',
  defaultPendingComponent: () => <Loading />,
  defaultErrorComponent: ({ error, reset }) => (
    <div className="p-6">
      <ErrorBox error={error} retry={reset} />
    </div>
  ),
  defaultNotFoundComponent: () => (
    <Empty icon="search" title="There is no such page">
      <Link to="/" className="text-accent underline">
        Go to Home
      </Link>
    </Empty>
  ),
});
