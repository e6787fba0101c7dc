import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/browser';
import { ConsoleBrowser, seriousFindings, takePicture } from '../support/console';
import { testStore } from '../support/exports';
import { EXAMPLE_GRAPHS, Gantry, startGantry } from '../support/gantry';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

const ADMIN_KEY = 'admin-key-of-the-console-0123456789';
const ask = (content: string) => ({ messages: [{ role: 'user', content }] });

describeInBrowser('the pages of the console for operators', () => {
  let gantry: Gantry;
  let browser: ConsoleBrowser;
  let receiver: WebhookReceiver;
  let isReceiverUp = false;

  beforeAll(async () => {
    receiver = await new WebhookReceiver((response) => {
      response.writeHead(isReceiverUp ? 200 : 410).end(isReceiverUp ? 'thanks' : 'not yet');
    }).start();
    [gantry, browser] = await Promise.all([
      startGantry({
        graphProcesses: 1,
        graphs: EXAMPLE_GRAPHS,
        env: { GANTRY_TRACING: 'on', GANTRY_ADMIN_KEY: ADMIN_KEY, GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' },
      }),
      ConsoleBrowser.launch(),
    ]);
    await gantry
      .client()
      .runs.wait(null, 'agent', { input: ask('What is the weather in Oslo?'), webhook: receiver.url() });
  });

  afterAll(async () => {
    await browser?.close();
    await gantry?.stop();
    await receiver?.stop();
  });

  afterEach(async () => {
    expect(await browser.closePages()).toEqual([]);
  });

  const open = (path: string): Promise<Page> => browser.open(`${gantry.url}/console${path}`);

  /** The project of the agent's traces, once all of its run has been received. */
  async function tracedProject(): Promise<{ project_id: string; day: string }> {
    return waitFor('the trace of the run', async () => {
      const { rows } = await gantry.sql.query<{ project_id: string; day: string }>(
        `SELECT p.project_id, to_char(r.start_time AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day FROM trace_projects p JOIN trace_runs r USING (project_id)
          WHERE p.name = 'agent' AND r.parent_run_id IS NULL AND r.end_time IS NOT NULL`,
      );
      return rows[0];
    });
  }

  it('finds a trace by a filter, shows its runs as a tree and its messages as messages, and takes feedback', async () => {
    const { project_id: project } = await tracedProject();
    const page = await open('/traces');
    await page.getByRole('link', { name: 'agent' }).click();
    await page.getByRole('heading', { name: 'agent' }).waitFor();
    const filter = page.getByRole('combobox', { name: 'Filter' });
    await filter.fill('eq(nam');
    await page.getByRole('option', { name: 'name' }).waitFor();
    await filter.press('Enter');
    expect(await filter.inputValue()).toBe('eq(name');
    await page.getByRole('alert').getByText('at position').waitFor();
    await filter.fill('eq(name, "agent")');
    await filter.press('Enter');
    await page.waitForURL(/filter=/);
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('table', { name: 'Traced runs' }).getByRole('link', { name: 'agent' }).click();
    await page.waitForURL(new RegExp(`/traces/${project}/`));
    await page.getByRole('treeitem', { name: /get_weather/ }).click();
    await page.getByRole('heading', { name: 'get_weather' }).waitFor();
    await page.getByRole('treeitem').first().click();
    await page.getByText('What is the weather in Oslo?').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await takePicture(page, 'trace');
    await page.getByRole('tab', { name: 'Feedback' }).click();
    await page.getByLabel('Comment').fill('It took long');
    await page.getByRole('button', { name: 'Bad' }).click();
    await page.getByText('It took long').waitFor();
  });

  it('creates a destination and an export, follows it to its end, and verifies the objects in the bucket', async () => {
    const { day: tracedDay } = await tracedProject();
    const store = testStore();
    const page = await open('/exports');
    await page.getByRole('button', { name: 'New destination' }).click();
    const dialog = page.getByRole('dialog', { name: 'New destination' });
    await dialog.getByLabel('Name').fill('Lake');
    await dialog.getByLabel('Bucket', { exact: true }).fill('no-such-bucket');
    await dialog.getByLabel('Region').fill(store.region);
    await dialog.getByLabel('Endpoint').fill(store.endpoint);
    await dialog.getByLabel('Prefix').fill('console');
    await dialog.getByLabel('Access key ID').fill(store.access_key_id);
    await dialog.getByLabel('Secret access key').fill(store.secret_access_key);
    await dialog.getByRole('button', { name: 'Test and create' }).click();
    await dialog.getByRole('alert').waitFor();
    await dialog.getByLabel('Bucket', { exact: true }).fill(store.bucket);
    await dialog.getByRole('button', { name: 'Test and create' }).click();
    await dialog.waitFor({ state: 'detached' });
    const report = page.getByRole('dialog', { name: 'Test of Lake' });
    await report.getByText('permits everything').waitFor();
    await report.getByText('s3:DeleteObject').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await report.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'New export' }).first().click();
    const form = page.getByRole('dialog', { name: 'New export' });
    await form.getByLabel('Project').selectOption({ label: 'agent' });
    await form.getByText(/runs are selected now/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await form.getByRole('button', { name: 'Start export' }).click();
    await page.getByText('Completed', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/The bucket holds all/).waitFor();
    await page.getByRole('table', { name: 'Days of the export' }).getByRole('button', { name: tracedDay }).click();
    const day = page.getByRole('dialog');
    await day.waitFor();
    await day
      .getByRole('button', { name: /\.parquet$/ })
      .first()
      .click();
    const preview = day.getByRole('region', { name: 'Schema and first rows' });
    await preview.getByRole('columnheader', { name: /^start_time\s*TIMESTAMP/ }).waitFor();
    await preview.getByText('get_weather').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    // The address has the day and the file.
    await page.reload();
    await preview.getByText('get_weather').first().waitFor();
    await page.keyboard.press('Escape');
    await day.waitFor({ state: 'detached' });
    await takePicture(page, 'export');
    await page.getByRole('link', { name: 'Exports' }).first().click();
    await page.getByRole('tab', { name: 'Destinations' }).click();
    await page.getByText(`s3://${store.bucket}/console`).waitFor();
  });

  it('creates a cron, shows its next ticks, triggers and pauses it, and previews what a backfill would run', async () => {
    const page = await open('/crons');
    await page.getByRole('button', { name: 'New cron' }).first().click();
    const dialog = page.getByRole('dialog', { name: 'New cron' });
    await dialog.getByLabel('Assistant').selectOption({ label: 'agent' });
    await dialog.getByLabel('Schedule').fill('0 6 * * *');
    await dialog.getByLabel('Time zone').fill('Europe/Oslo');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('tab', { name: 'Next 7 days' }).click();
    await page.getByRole('link', { name: /agent/ }).first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('link', { name: /agent/ }).first().click();
    await page.getByText('0 6 * * *').first().waitFor();
    await page.getByRole('button', { name: 'Trigger' }).click();
    await page.getByRole('table', { name: 'Runs of the cron' }).getByText('manual').waitFor();
    await page.getByRole('button', { name: 'Backfill' }).click();
    const backfill = page.getByRole('dialog', { name: 'Run what is past' });
    await backfill.getByLabel('From (UTC)').fill('2026-03-01T00:00');
    await backfill.getByLabel('To (UTC)').fill('2026-03-04T00:00');
    await backfill.getByText(/^3 ticks/).waitFor();
    await backfill.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('puts, finds, edits and deletes an item of the store', async () => {
    await gantry.client().store.putItem(['users', 'ada'], 'preferences', { language: 'en' });
    const page = await open('/store');
    await page.getByRole('button', { name: 'users' }).click();
    await page.getByRole('button', { name: 'ada' }).click();
    await page.getByText('"en"').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Edit preferences' }).click();
    const editor = page.getByRole('dialog').getByRole('textbox', { name: 'Value' });
    // A dialog that opens moves the focus once more.
    await waitFor('the text in the editor', async () => {
      await editor.click();
      await page.keyboard.press('ControlOrMeta+a');
      await page.keyboard.insertText('{"language": "nb"}');
      return (await editor.textContent())?.trim() === '{"language": "nb"}' || undefined;
    });
    await page.getByRole('button', { name: 'Store', exact: true }).click();
    await page.getByText('"nb"').waitFor();
    await page.getByRole('button', { name: 'Delete preferences' }).click();
    await page.getByRole('button', { name: 'Delete item' }).click();
    await page.getByText('No items here').waitFor();
    expect(await gantry.client().store.getItem(['users', 'ada'], 'preferences')).toBeNull();
  });

  it('shows the attempts of a delivery, and sends it again', async () => {
    const page = await open('/webhooks?status=failed');
    await page.getByRole('table', { name: 'Webhook deliveries' }).getByRole('link').first().click();
    await page.getByText('Attempt 1', { exact: true }).waitFor();
    await page.getByText('not yet').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    isReceiverUp = true;
    const before = page.url();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.waitForURL((url) => url.href !== before);
    await page.getByText('thanks').waitFor();
    await takePicture(page, 'delivery');
  });

  it('leads from a run to its deliveries and to its trace', async () => {
    await tracedProject();
    const [{ run_id: runId }] = (
      await gantry.sql.query<{ run_id: string }>(
        `SELECT run_id FROM webhook_deliveries WHERE run_id IS NOT NULL LIMIT 1`,
      )
    ).rows;
    const page = await open(`/runs/${runId}?tab=webhooks`);
    await page.getByRole('list', { name: 'Webhook deliveries' }).getByText('failed').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('list', { name: 'Webhook deliveries' }).getByRole('link').last().click();
    await page.getByText('Attempt 1', { exact: true }).waitFor();
    await page.goBack();
    await page.getByRole('link', { name: 'its steps, models and tools' }).click();
    await page.getByRole('treeitem', { name: /get_weather/ }).waitFor();
  });

  it('creates an assistant, changes it, compares its versions and restores an earlier one', async () => {
    const page = await open('/assistants');
    await page.getByRole('button', { name: 'New assistant' }).click();
    const dialog = page.getByRole('dialog', { name: 'New assistant' });
    await dialog.getByLabel('Graph').selectOption('agent');
    await dialog.getByLabel('Name').fill('Forecaster');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { name: 'Forecaster' }).waitFor();
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Meteorologist');
    await page.getByRole('button', { name: 'Save as a new version' }).click();
    // The page itself is hidden for as long as the dialog is open.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Meteorologist' }).waitFor();
    await page.getByRole('tab', { name: 'Versions' }).click();
    await page.getByText('− Forecaster').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Make current' }).click();
    await page.getByRole('heading', { name: 'Forecaster' }).waitFor();
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByText('tools', { exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('sends a message to an agent by A2A, and calls a tool by MCP', async () => {
    const page = await open('/protocols');
    await page.getByLabel('Agent', { exact: true }).selectOption({ label: 'agent' });
    await page.getByLabel('Message').fill('2 + 3');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText(/TASK_STATE_COMPLETED/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Tools (MCP)' }).click();
    await page.getByRole('button', { name: /^agent/ }).click();
    await page
      .getByLabel(/messages/)
      .first()
      .fill('2 + 3');
    await page.getByRole('button', { name: 'Call the tool' }).click();
    await page.getByText(/5/).first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('opens tenants, keys and the audit log with the operator’s key only', async () => {
    const page = await open('/settings?tab=keys');
    await page.getByLabel('Operator’s key').fill(ADMIN_KEY);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('of a test');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page
      .getByRole('dialog', { name: 'The new key' })
      .getByText(/^gtry_/)
      .waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Revoke of a test' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('revoked').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Audit log' }).click();
    await page.getByRole('table', { name: 'Audit log' }).getByText('revoke', { exact: true }).first().waitFor();
    await page.getByRole('tab', { name: 'Tenants' }).click();
    await page.getByRole('button', { name: 'New tenant' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows the health of the services and the backlog', async () => {
    const page = await open('/system');
    await page.getByText('database').waitFor();
    await page.getByText('Runs in flight').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows where another worker resumed a run', async () => {
    const client = gantry.client();
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'pipeline', { input: { step_ms: 500 } });
    await waitFor('its third checkpoint', async () => (await client.threads.getHistory(thread_id)).length >= 3);
    await gantry.killWorker();
    await gantry.startWorker();
    await client.runs.join(thread_id, run_id);
    const page = await open(`/runs/${run_id}`);
    await page.getByText('Attempt 2').waitFor();
    const rows = await page
      .getByRole('listitem')
      .filter({ hasText: /input|step|Attempt/ })
      .allInnerTexts();
    expect(rows.findIndex((row) => row.includes('Attempt 2'))).toBeGreaterThan(2);
    await page.getByText('2: a process was lost or stopped').waitFor();
  });

  it('opens a trace of 5,000 runs, and renders only the visible ones', async () => {
    const page = await open('/traces');
    const { project, trace } = await largeTrace();
    await page.goto(`${gantry.url}/console/traces/${project}/${trace}`);
    await page.getByText('5,000 runs').waitFor();
    expect(await page.getByRole('treeitem').count()).toBeLessThan(200);
    await page.getByRole('tree').press('ArrowDown');
    await page.getByRole('heading', { name: 'step 1', exact: true }).waitFor();
  });

  /** Uploads a trace as a LangSmith client does, all of its runs below one root. */
  async function largeTrace(): Promise<{ project: string; trace: string }> {
    const id = (index: number): string => `019a0000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`;
    const start = Date.now();
    const stamp = (ms: number): string => new Date(start + ms).toISOString();
    const order = (ms: number): string => stamp(ms).replace(/[-:.]/g, '').replace('Z', '000Z');
    const runs = Array.from({ length: 5000 }, (_, index) => ({
      id: id(index),
      trace_id: id(0),
      ...(index > 0 && { parent_run_id: id(0) }),
      dotted_order: index === 0 ? `${order(0)}${id(0)}` : `${order(0)}${id(0)}.${order(index)}${id(index)}`,
      name: index === 0 ? 'large' : `step ${index}`,
      run_type: 'chain',
      start_time: stamp(index),
      end_time: stamp(index + 1),
      session_name: 'large traces',
      inputs: {},
      outputs: {},
    }));
    const response = await fetch(`${gantry.url}/api/v1/runs/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ post: runs, patch: [] }),
    });
    expect(response.status).toBe(202);
    const { rows } = await gantry.sql.query<{ project_id: string }>(
      `SELECT project_id FROM trace_projects WHERE name = 'large traces'`,
    );
    return { project: rows[0].project_id, trace: id(0) };
  }
});
