import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { type ServedConsole, serveConsole } from './console';
import { insertEndedExports } from './ended-exports';
import type { Gantry } from './gantry';
import { waitFor } from './wait-for';
import { WebhookReceiver } from './webhook-receiver';

export const GRAPHS = join(__dirname, 'graphs', 'console.json');
export const TEMPORAL_UI = 'http://temporal.test:8233';

/** Every page, by the name of what it shows; `{…}` is the id of a thing that the test made. */
export const PAGES = {
  Home: '/',
  Playground: '/playground?assistant=agent',
  Threads: '/threads',
  'a thread': '/threads/{thread}',
  Runs: '/runs',
  'a run': '/runs/{run}',
  'Interrupt inbox': '/inbox',
  Traces: '/traces',
  'a project': '/traces/{project}',
  'runs of all projects': '/traces/all',
  'a trace': '/traces/{project}/{trace}',
  Exports: '/exports',
  'an export': '/exports/{export}',
  Crons: '/crons',
  'a cron': '/crons/{cron}',
  Store: '/store',
  Webhooks: '/webhooks',
  'a delivery': '/webhooks/{delivery}',
  Assistants: '/assistants',
  'an assistant': '/assistants/{assistant}',
  'A2A and MCP': '/protocols',
  Settings: '/settings',
  System: '/system',
};
export type PageName = keyof typeof PAGES;
export const NAMES = Object.keys(PAGES) as PageName[];

/** The part of a page beside the navigation. */
export const main = (page: Page): Locator => page.locator('#content');

/** Resolves when the page has shown its first answers. */
export async function settled(page: Page): Promise<void> {
  await main(page).getByRole('heading', { level: 1 }).waitFor();
  await waitFor('the content', async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0);
}

/** Makes one thing of each kind that a page shows. Resolves to their ids, by the name that PAGES has for them. */
async function makeThings(gantry: Gantry, receiver: WebhookReceiver): Promise<Record<string, string>> {
  const client = gantry.client();
  const input = { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] };
  const { thread_id } = await client.threads.create();
  const { run_id } = await client.runs.create(thread_id, 'agent', { input, webhook: receiver.url() });
  await client.runs.join(thread_id, run_id);
  for (const amount of [120, 45]) {
    const waiting = await client.threads.create();
    await client.runs.wait(waiting.thread_id, 'approval', { input: { amount } });
  }
  const cron = await client.crons.create('agent', { schedule: '0 6 * * *', input });
  await client.store.putItem(['users', 'ada'], 'preferences', { language: 'en' });
  const [assistant] = await client.assistants.search({ graphId: 'agent' });
  const traced = await waitFor('the trace of the run', async () => {
    const { rows } = await gantry.sql.query<{ project_id: string; trace_id: string }>(
      `SELECT r.project_id, r.trace_id FROM trace_runs r JOIN trace_projects p USING (project_id)
        WHERE p.name = 'agent' AND r.parent_run_id IS NULL AND r.end_time IS NOT NULL`,
    );
    return rows[0];
  });
  const delivery = await waitFor('the delivery', async () => {
    const { rows } = await gantry.sql.query<{ delivery_id: string }>(
      `SELECT delivery_id FROM webhook_deliveries WHERE status = 'delivered'`,
    );
    return rows[0];
  });
  const [endedExport] = await insertEndedExports(gantry, ['Failed']);
  return {
    thread: thread_id,
    run: run_id,
    cron: cron.cron_id,
    project: traced.project_id,
    trace: traced.trace_id,
    delivery: delivery.delivery_id,
    export: endedExport,
    assistant: assistant.assistant_id,
  };
}

/** A console with something on each of its pages. */
export interface FilledConsole {
  served: ServedConsole;
  ids: Record<string, string>;
  /** Path of a page in the console. */
  pathOf: (name: PageName) => string;
  /** Opens a page in the window of the suite, and waits for its content. */
  visit: (name: PageName) => Promise<Page>;
}

/** Serves a console to the tests of the suite that calls this, with something on each of its pages. */
export function serveFilledConsole(): FilledConsole {
  const served = serveConsole({
    graphProcesses: 1,
    graphs: GRAPHS,
    env: {
      GANTRY_TRACING: 'on',
      GANTRY_TEMPORAL_UI_URL: TEMPORAL_UI,
      GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    },
  });
  const ids: Record<string, string> = {};
  let receiver: WebhookReceiver;
  beforeAll(async () => {
    receiver = await new WebhookReceiver().start();
    Object.assign(ids, await makeThings(served.gantry, receiver));
  });
  afterAll(() => receiver?.stop());
  const pathOf = (name: PageName): string => PAGES[name].replace(/\{(\w+)\}/g, (_, kind: string) => ids[kind]);
  const visit = async (name: PageName): Promise<Page> => {
    const page = await served.visit(pathOf(name));
    await settled(page);
    return page;
  };
  return { served, ids, pathOf, visit };
}
