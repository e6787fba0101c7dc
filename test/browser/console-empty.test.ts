import { randomUUID } from 'node:crypto';
import { describeInBrowser } from '../support/browser';
import { seriousFindings, serveConsole } from '../support/console';
import { GRAPHS, main, NAMES, type PageName, PAGES, settled } from '../support/console-pages';

const NO_ID = '019a0000-0000-7000-8000-000000000000';

/** Pages that are empty on a new server, and how the page says that something gets there. */
const EMPTY: [path: string, hint: RegExp][] = [
  ['/', /Send a message in the Playground, create a run by the API/],
  ['/playground', /Send a message to begin a thread/],
  ['/threads', /Begin a conversation in the Playground/],
  ['/runs', /Send a message in the Playground/],
  ['/inbox', /A run that calls interrupt\(\) stops and asks here/],
  ['/traces', /LANGSMITH_TRACING=true/],
  ['/traces/all', /Choose a longer window/],
  ['/exports', /An export writes the traces of a project/],
  ['/exports?tab=destinations', /A destination is a bucket/],
  ['/crons', /A cron runs an assistant on a schedule/],
  ['/store', /Graphs put what they remember over threads into the store/],
  ['/webhooks', /is posted to that URL when it ends/],
  ['/assistants?name=nobody', /Each graph of langgraph.json has an assistant/],
];

/** Pages without data of a tenant. */
const PUBLIC: PageName[] = ['System'];
/** Pages of one thing that is named in the address. */
const OF_ONE: PageName[] = ['a thread', 'a run', 'a project', 'an export', 'a cron', 'a delivery', 'an assistant'];

/** Address of a page; where it is one of one thing, of one that isn't there. */
const pathOf = (name: PageName): string => PAGES[name].replace(/\{\w+\}/g, NO_ID);

/** Pages on which axe looks at a refusal: one of each shape. */
const WITH_AXE: PageName[] = ['Home', 'Playground', 'Threads', 'a run', 'a trace', 'Settings'];

describeInBrowser('the pages of the console without anything to show', () => {
  const served = serveConsole({ graphs: GRAPHS, workers: 0, graphProcesses: 1 });

  it.each(EMPTY)('%s says how to get something there while it is empty', async (path, hint) => {
    const page = await served.visit(path);
    await settled(page);
    await main(page).getByText(hint).first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it.each(NAMES.filter((name) => !PUBLIC.includes(name)))('%s says what the server said', async (name) => {
    const page = await served.visit('/no/such/page');
    const isApi = (url: URL): boolean => url.origin === served.gantry.url && !url.pathname.startsWith('/console');
    // Names another tenant than the caller's, which the server refuses.
    await page.route(isApi, (route) =>
      route.continue({ headers: { ...route.request().headers(), 'x-tenant-id': randomUUID() } }),
    );
    try {
      await page.goto(`${served.gantry.url}/console${pathOf(name)}`);
      const alert = main(page).getByRole('alert').first();
      await alert.getByText('X-Tenant-Id names a workspace').waitFor();
      await alert.getByText('403').waitFor();
      // All pages show a refusal by the same element, of which axe has seen enough on pages of every shape.
      if (WITH_AXE.includes(name)) expect(await seriousFindings(page)).toEqual([]);
    } finally {
      await page.unroute(isApi);
    }
  });

  it.each(OF_ONE)('the page of %s says that there is none of that id', async (name) => {
    const page = await served.visit(pathOf(name));
    await main(page).getByRole('alert').first().getByText('404').waitFor();
  });
});
