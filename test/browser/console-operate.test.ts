import { setTimeout } from 'node:timers/promises';
import { describeInBrowser } from '../support/browser';
import { seriousFindings, serveConsole, takePicture } from '../support/console';
import { EXAMPLE_GRAPHS } from '../support/gantry';
import { waitFor } from '../support/wait-for';
import { WebhookReceiver } from '../support/webhook-receiver';

/** Globals of the page. */
declare const navigator: { clipboard: { readText: () => Promise<string> } };

/** For how long the api answers with the findings of a check that it has carried out. */
const FRESH_MS = 5_000;
const ADMIN_KEY = 'admin-key-of-the-console-0123456789';
const ask = (content: string) => ({ messages: [{ role: 'user', content }] });

describeInBrowser('the pages of the console for operators', () => {
  let receiver: WebhookReceiver;
  let isReceiverUp = false;
  const served = serveConsole({
    graphProcesses: 1,
    graphs: EXAMPLE_GRAPHS,
    env: {
      GANTRY_TRACING: 'on',
      GANTRY_ADMIN_KEY: ADMIN_KEY,
      GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      // Nothing listens there: the System page shows what is wrong.
      GANTRY_S3_ENDPOINT: 'http://127.0.0.1:1',
      GANTRY_S3_BUCKET: 'none',
    },
  });
  const { open } = served;

  beforeAll(async () => {
    receiver = await new WebhookReceiver((response) => {
      response.writeHead(isReceiverUp ? 200 : 410).end(isReceiverUp ? 'thanks' : 'not yet');
    }).start();
    await served.gantry
      .client()
      .runs.wait(null, 'agent', { input: ask('What is the weather in Oslo?'), webhook: receiver.url() });
  });

  afterAll(() => receiver?.stop());

  it('creates a cron, shows its next ticks, triggers and pauses it, and runs what is past after a dry run', async () => {
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
    await backfill.getByText('2026-03-03 05:00').waitFor();
    const history = page.getByRole('table', { name: 'Runs of the cron' });
    expect(await history.getByText('backfill').count()).toBe(0);
    await backfill.getByRole('button', { name: 'Backfill' }).click();
    await backfill.waitFor({ state: 'detached' });
    await page.getByText('3 runs of 3 ticks; 0 had been run before.').waitFor();
    await waitFor('the runs of the past', async () => (await history.getByText('backfill').count()) === 3);
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows the week of more crons than it reads at first, and the last times of one that ends', async () => {
    const client = served.gantry.client();
    const end = new Date(Date.now() + 36 * 3_600_000);
    const made = await client.crons.create('agent', { schedule: '0 6 * * *', endTime: end.toISOString(), input: {} });
    const cron = (await client.crons.search()).find(({ cron_id: id }) => id === made.cron_id);
    const page = await open(`/crons/${made.cron_id}`);
    const next = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Next' }) });
    const times = next.getByRole('listitem');
    await times.first().waitFor();
    expect(await times.count()).toBeLessThanOrEqual(2);

    const crons = Array.from({ length: 150 }, (_, index) => ({ ...cron, cron_id: `cron-${index}`, end_time: null }));
    await page.route('**/runs/crons/search', (route) => {
      const { limit, offset } = route.request().postDataJSON() as { limit: number; offset: number };
      const headers = { 'x-pagination-total': String(crons.length) };
      return route.fulfill({ json: crons.slice(offset, offset + limit), headers });
    });
    await page.goto(`${served.gantry.url}/console/crons?tab=calendar`);
    await page.getByText('The newest 100 of 150 crons').waitFor();
    await page.getByText('92 more').first().waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show more of them' }).click();
    await page.getByText('142 more').first().waitFor();
    expect(await page.getByText('The newest').count()).toBe(0);
    await client.crons.delete(made.cron_id);
  });

  it('puts, finds, edits and deletes an item of the store', async () => {
    await served.gantry.client().store.putItem(['users', 'ada'], 'preferences', { language: 'en' });
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
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByText('"nb"').waitFor();
    await page.getByRole('button', { name: 'Delete preferences' }).click();
    await page.getByRole('button', { name: 'Delete item' }).click();
    await page.getByText('No items here').waitFor();
    expect(await served.gantry.client().store.getItem(['users', 'ada'], 'preferences')).toBeNull();
  });

  it('shows the attempts of a delivery, and sends it again', async () => {
    const page = await open('/webhooks?status=failed');
    await page.getByRole('table', { name: 'Webhook deliveries' }).getByRole('link').first().click();
    await page.getByText('Attempt 1', { exact: true }).waitFor();
    await page.getByText('not yet').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.getByRole('button', { name: 'Copy the request as curl' }).click();
    const curl = await waitFor('the request', async () => page.evaluate(() => navigator.clipboard.readText()));
    // Paths of receivers may be secrets, and are masked.
    expect(curl).toContain(`curl -X POST '${new URL(receiver.url()).origin}/***'`);
    expect(curl).toContain("-H 'content-type: application/json'");
    isReceiverUp = true;
    const before = page.url();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.waitForURL((url) => url.href !== before);
    await page.getByText('thanks').waitFor();
    await takePicture(page, 'delivery');
  });

  it('sends a sample to a receiver, and says why one can’t be sent', async () => {
    isReceiverUp = true;
    const page = await open('/webhooks');
    await page.getByRole('button', { name: 'Send a sample' }).click();
    const dialog = page.getByRole('dialog', { name: 'Send a sample' });
    await dialog.getByLabel('URL').fill('http://169.254.169.254/latest');
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await dialog.getByRole('alert').getByText('422').waitFor();
    await dialog.getByLabel('URL').fill(receiver.url());
    await dialog.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Attempt 1', { exact: true }).waitFor();
    await page.getByText('thanks').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('leads from Home to the deliveries that were given up', async () => {
    const page = await open('/');
    await page.getByRole('link', { name: /Webhook deliveries that were given up\s*1/ }).click();
    const rows = page.getByRole('table', { name: 'Webhook deliveries' }).getByRole('link');
    await rows.first().waitFor();
    expect(await rows.count()).toBe(1);
    expect(new URL(page.url()).searchParams.get('status')).toBe('failed');
  });

  it('leads from a run to its deliveries and to its trace', async () => {
    const [{ run_id: runId }] = (
      await served.gantry.sql.query<{ run_id: string }>(
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
    const page = await served.browser.open('about:blank');
    // It is missing on addresses without TLS, which aren't those of the machine itself.
    await page.addInitScript(() => void Object.defineProperty(crypto, 'randomUUID', { value: undefined }));
    await page.goto(`${served.gantry.url}/console/protocols`);
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
    const key = page.getByRole('dialog', { name: 'The new key' }).getByText(/^gtry_/);
    await key.waitFor();
    // It can't be shown again.
    await page.mouse.click(5, 5);
    expect(await key.isVisible()).toBe(true);
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Revoke of a test' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('revoked').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Audit log' }).click();
    const records = page.getByRole('table', { name: 'Audit log' });
    await records.getByText('revoke', { exact: true }).first().waitFor();
    // Another key shows nothing of what the operator's has opened.
    await page.getByRole('button', { name: 'Forget the operator’s key' }).click();
    await page.getByLabel('Operator’s key').fill('another');
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByRole('alert').first().waitFor();
    expect(await records.count()).toBe(0);
    await page.getByRole('button', { name: 'Forget the operator’s key' }).click();
    await page.getByLabel('Operator’s key').fill(ADMIN_KEY);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await records.getByText('revoke', { exact: true }).first().waitFor();
    await page.getByRole('tab', { name: 'Tenants' }).click();
    await page.getByRole('button', { name: 'New tenant' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('acme');
    await page.getByRole('button', { name: 'Create tenant' }).click();
    await page.getByRole('button', { name: 'Rename acme' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('acme labs');
    await page.getByRole('button', { name: 'Rename', exact: true }).click();
    const tenant = page.getByRole('listitem').filter({ hasText: 'acme labs' });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // Unchecked once the server has answered.
    await tenant.getByRole('checkbox').first().click();
    await waitFor('the changed tenant', async () => {
      const response = await fetch(`${served.gantry.url}/admin/tenants`, { headers: { 'x-api-key': ADMIN_KEY } });
      const tenants = (await response.json()) as { name: string; entitlements: Record<string, boolean> }[];
      return tenants.some(({ name, entitlements }) => name === 'acme labs' && !Object.values(entitlements)[0]);
    });
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('tab', { name: 'This caller' }).click();
    await page.getByText('without a limit').waitFor();

    // More keys than a request returns.
    await served.gantry.sql.query(
      `INSERT INTO api_keys (api_key_id, tenant_id, name, hash)
        SELECT gen_random_uuid(), tenant_id, name, decode(md5(n::text), 'hex')
          FROM api_keys, generate_series(1, 1000) n WHERE name = 'of a test'`,
    );
    await page.getByRole('tab', { name: 'API keys' }).click();
    const keys = page.getByRole('table', { name: 'API keys' });
    await waitFor('all keys', async () => Number(await keys.getAttribute('aria-rowcount')) >= 1002);
  });

  it('shows what is healthy and what is not, with what to do about it, and the backlog', async () => {
    const page = await open('/system');
    const findings = page.getByRole('list', { name: 'Findings' }).getByRole('listitem');
    await findings.filter({ hasText: 'browser clock' }).waitFor();
    const read = async () => (await findings.allInnerTexts()).map((text) => text.replace(/\s+/g, ' '));
    const checkAgain = async () => {
      const answer = page.waitForResponse((response) => response.url().endsWith('/system/findings'));
      await page.getByRole('button', { name: 'Check again' }).click();
      expect((await answer).status()).toBe(200);
    };
    await checkAgain();
    // On a busy machine a service may answer too late for one of the checks.
    for (let count = 0; count < 5 && (await read()).filter((line) => !line.startsWith('ok')).length !== 1; count += 1) {
      await setTimeout(FRESH_MS);
      await checkAgain();
    }
    expect(await read()).toEqual([
      expect.stringMatching(/^ok node Node \d/),
      expect.stringContaining('examples.json: agent'),
      expect.stringMatching(/^ok ports the API listens on 127\.0\.0\.1:\d+/),
      expect.stringMatching(/^ok database Postgres \d/),
      expect.stringMatching(/^ok database migrations all \d+ are applied$/),
      expect.stringMatching(/^ok database clock /),
      expect.stringMatching(/^ok temporal server \d/),
      expect.stringMatching(/^failure s3 bucket none on .*Check GANTRY_S3_ENDPOINT/),
      expect.stringMatching(/^ok api GET .* answers 200$/),
      expect.stringMatching(/^ok api clock /),
      'ok cors pages of any origin can use the API',
      'ok auth off: for this machine only',
      'ok workers 1 polling',
      'ok run queue on time',
      'ok webhooks on time',
      'ok crons on time',
      'ok browser clock the clock of the server agrees with that of this browser',
    ]);
    await page.getByText('Runs in flight').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('shows a key of another tenant the health of the services only, and the operator’s key the findings', async () => {
    const url = await served.gantry.startReplica({ GANTRY_AUTH: 'on', GANTRY_API_KEY: `gtry_${'k'.repeat(43)}` });
    const headers = { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' };
    const admin = async (path: string, body: object) => {
      const answer = await fetch(`${url}/admin/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      return (await answer.json()) as Record<string, string>;
    };
    const { tenant_id } = await admin('tenants', { name: 'beside' });
    const { key } = await admin('keys', { tenant_id, name: 'of a tenant' });
    const page = await served.browser.open(`${url}/console/system`);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Sign in' }).click();
    const findings = page.getByRole('list', { name: 'Findings' });
    await findings.getByText('is healthy').first().waitFor();
    await page.getByText(/need the operator’s API key/).waitFor();
    expect(await findings.getByText('Postgres').count()).toBe(0);
    await page.getByRole('link', { name: 'Settings' }).first().click();
    await page.getByRole('tab', { name: 'Tenants' }).click();
    await page.getByLabel('Operator’s key').fill(ADMIN_KEY);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByRole('button', { name: 'New tenant' }).waitFor();
    await page.getByRole('link', { name: 'System' }).click();
    await findings.getByText('Postgres').waitFor();
  });

  it('shows where another worker resumed a run', async () => {
    const client = served.gantry.client();
    const { thread_id } = await client.threads.create();
    const { run_id } = await client.runs.create(thread_id, 'pipeline', { input: { step_ms: 2_000 } });
    await waitFor('its third checkpoint', async () => (await client.threads.getHistory(thread_id)).length >= 3);
    await served.gantry.killWorker();
    await served.gantry.startWorker();
    await client.runs.join(thread_id, run_id);
    const page = await open(`/runs/${run_id}`);
    await page.getByText('Attempt 2').waitFor();
    const rows = await page.getByRole('list', { name: 'Steps' }).getByRole('listitem').allInnerTexts();
    expect(rows.findIndex((row) => row.includes('Attempt 2'))).toBeGreaterThan(2);
    await page.getByText('2: a process was lost or stopped').waitFor();
  });
});
