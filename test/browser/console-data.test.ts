import { describeInBrowser } from '../support/browser';
import { hasFocus, seriousFindings, serveConsole, takePicture } from '../support/console';
import { destinationBody, testStore } from '../support/exports';
import { insertEndedExports } from '../support/ended-exports';
import { EXAMPLE_GRAPHS } from '../support/gantry';
import { expectSoon, waitFor } from '../support/wait-for';

const DAY_MS = 86_400_000;
/** More than the console requests at a time. */
const ENDED_EXPORTS = 110;

describeInBrowser('traces and exports in the console', () => {
  const served = serveConsole({ graphProcesses: 1, graphs: EXAMPLE_GRAPHS, env: { GANTRY_TRACING: 'on' } });
  const { open } = served;

  beforeAll(async () => {
    const input = { messages: [{ role: 'user', content: 'What is the weather in Oslo?' }] };
    await served.gantry.client().runs.wait(null, 'agent', { input });
  });

  async function call<Answer>(method: string, path: string, body: object): Promise<Answer> {
    const response = await fetch(`${served.gantry.url}/api/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(await response.clone().text()).toBeTruthy();
    expect(response.ok).toBe(true);
    return (await response.json()) as Answer;
  }

  /** The project of the agent's traces, once all of its run has been received. */
  async function tracedProject(): Promise<{ project_id: string; day: string }> {
    return waitFor('the trace of the run', async () => {
      const { rows } = await served.gantry.sql.query<{ project_id: string; day: string }>(
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
    const newest = form.getByRole('list', { name: 'The newest of them' });
    await newest.getByRole('listitem').nth(4).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await form.getByRole('button', { name: 'Start export' }).click();
    await page.getByText('Completed', { exact: true }).first().waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText(/The bucket holds all/).waitFor();
    const files = page.getByRole('table', { name: 'Files of the manifest' }).getByRole('row');
    expect(await files.nth(1).textContent()).toMatch(/\.parquet.*[0-9a-f]{32}/);
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

  it('charts the count, errors, latency, tokens and cost of the runs of a project', async () => {
    const ended = Date.now() - 60_000;
    const outputs = { usage_metadata: { input_tokens: 30, output_tokens: 12, total_tokens: 42, total_cost: 0.5 } };
    const runs = [undefined, undefined, undefined, 'The model refused'].map((error, index) => {
      const id = `019a0000-0000-7000-8000-00000001000${index}`;
      return {
        id,
        trace_id: id,
        dotted_order: `${new Date(ended - 2000).toISOString().replace(/[-:.]/g, '').replace('Z', '000Z')}${id}`,
        name: 'priced',
        run_type: 'llm',
        start_time: new Date(ended - 2000).toISOString(),
        end_time: new Date(ended).toISOString(),
        session_name: 'priced',
        inputs: {},
        ...(error ? { error } : { outputs }),
      };
    });
    // An agent: its tokens are those of the model that it called.
    const [{ id: agent, dotted_order: place, ...first }, ...others] = runs;
    const model = agent.replace('0000', '0001');
    const called = {
      ...first,
      id: model,
      trace_id: agent,
      parent_run_id: agent,
      dotted_order: `${place}.${place.slice(0, 22)}${model}`,
    };
    const chain = {
      ...first,
      id: agent,
      trace_id: agent,
      dotted_order: place,
      name: 'agent',
      run_type: 'chain',
      outputs: {},
    };
    await call('POST', '/runs/batch', { post: [chain, called, ...others], patch: [] });
    const page = await open('/traces');
    await page.getByRole('link', { name: 'priced' }).click();
    const values: Record<string, string[]> = {
      Runs: ['3', '1'],
      'Error rate': ['25 %'],
      'Latency, p50 and p99': ['2.0 s', '2.0 s'],
      Tokens: ['126'],
      Cost: ['$1.50'],
    };
    for (const [title, expected] of Object.entries(values)) {
      const name = `${title} of the window in 12 steps`;
      await page.getByRole('img', { name }).locator('canvas').waitFor();
      const cells = page.getByRole('table', { name }).getByRole('row').nth(1).getByRole('cell');
      await expectSoon(() => cells.allTextContents(), expected);
    }
    await page.getByText('4 runs · 25 % failed · 126 tokens · $1.50').waitFor();
    await page.getByRole('row', { name: /agent success chain .* 42 \$0\.50/ }).waitFor();
    await page.getByLabel('Failed only').check();
    const listed = page.getByRole('table', { name: 'Traced runs' }).getByRole('link');
    await waitFor('the failed one alone', async () => (await listed.count()) === 1);
    expect(await seriousFindings(page)).toEqual([]);

    const home = await open('/?hours=1');
    const name = 'Tokens per minute of the traced runs';
    await home.getByRole('img', { name }).locator('canvas').waitFor();
    await home.getByRole('table', { name }).getByRole('cell').first().waitFor({ state: 'attached' });
    expect(await seriousFindings(home)).toEqual([]);
  });

  it('charts the tokens of a trace that spans several steps once, where its root began', async () => {
    const now = Date.now();
    const ids = [0, 1, 2].map((index) => `019a0000-0000-7000-8000-00000003000${index}`);
    // A period of an hour has steps of five minutes.
    const starts = ids.map((_, index) => new Date(now - (21 - 7 * index) * 60_000).toISOString());
    const places = ids.map((id, index) => `${starts[index].replace(/[-:.]/g, '').replace('Z', '000Z')}${id}`);
    const usage = { input_tokens: 900_000, output_tokens: 100_000, total_tokens: 1_000_000, total_cost: 2 };
    const post = ids.map((id, index) => ({
      ...{ id, trace_id: ids[0], dotted_order: places.slice(0, index + 1).join('.'), session_name: 'spanning' },
      ...(index > 0 && { parent_run_id: ids[index - 1] }),
      ...{ name: `part ${index}`, run_type: index === 2 ? 'llm' : 'chain', inputs: {} },
      ...{ start_time: starts[index], end_time: new Date(now).toISOString() },
      outputs: index === 2 ? { usage_metadata: usage } : {},
    }));
    await call('POST', '/runs/batch', { post, patch: [] });
    const { rows } = await served.gantry.sql.query<{ project_id: string }>(
      `SELECT project_id FROM trace_projects WHERE name = 'spanning'`,
    );
    /** Opens a page with charts, and waits for the figures of all of their steps. */
    const openCharts = async (path: string) => {
      const page = await served.browser.open('about:blank');
      let answers = 0;
      page.on('response', (response) => {
        if (response.url().endsWith('/runs/stats')) answers += 1;
      });
      await page.goto(`${served.gantry.url}/console${path}`);
      await waitFor('the figures of all steps', () => answers >= 12);
      return (chart: string) => page.getByRole('table', { name: chart }).getByRole('cell').allTextContents();
    };
    const ofProject = await openCharts(`/traces/${rows[0].project_id}?window=1h`);
    await expectSoon(() => ofProject('Tokens of the window in 12 steps'), ['1M']);
    await expectSoon(() => ofProject('Cost of the window in 12 steps'), ['$2.00']);
    const ofAll = await openCharts('/?hours=1');
    const perMinute = async (): Promise<string[]> => {
      const values = await ofAll('Tokens per minute of the traced runs');
      return values.filter((value) => value === '200K');
    };
    await expectSoon(perMinute, ['200K']);
  });

  it('reads the tokens of Home without the feedback in their projects', async () => {
    const page = await served.browser.open('about:blank');
    const statistics = page.waitForRequest(
      (request) => new URL(request.url()).searchParams.get('include_stats') === 'true',
    );
    await page.goto(`${served.gantry.url}/console/?hours=1`);
    expect(new URL((await statistics).url()).searchParams.getAll('stats_select')).toEqual(['total_tokens']);
    await page.getByRole('link', { name: /Tokens per minute.*in traces/ }).waitFor();
  });

  describe('an export of a destination', () => {
    let destination: string;
    let project: string;

    beforeAll(async () => {
      ({ id: destination } = await call<{ id: string }>('POST', '/bulk-exports/destinations', destinationBody()));
      ({ project_id: project } = await tracedProject());
    });

    it('is scheduled, shows the windows that come next, and is cancelled', async () => {
      const page = await open('/exports');
      await page.getByRole('button', { name: 'New export' }).first().click();
      const form = page.getByRole('dialog', { name: 'New export' });
      await form.getByLabel('Project').selectOption({ label: 'agent' });
      await form.getByLabel('Repeats').selectOption({ label: 'On a schedule' });
      const today = new Date().toISOString().slice(0, 10);
      // What is no time and no number yet is not counted, and Escape closes the suggestions alone.
      await form.getByLabel('From').fill('');
      await form.getByLabel('Hours of each window').fill('1e99');
      const filter = form.getByRole('combobox', { name: 'Filter' });
      await filter.fill('eq(nam');
      await form.getByRole('option', { name: 'name' }).waitFor();
      await page.keyboard.press('Escape');
      await form.getByRole('listbox').waitFor({ state: 'detached' });
      await filter.fill('');
      await page.mouse.click(5, 5);
      await form.getByLabel('From').fill(today);
      await form.getByLabel('Hours of each window').fill('24');
      await form.getByRole('button', { name: 'Start export' }).click();
      const windows = page.getByRole('list', { name: 'Next windows' }).getByRole('listitem');
      await windows.first().waitFor();
      const day = (after: number): string => new Date(Date.parse(today) + after * DAY_MS).toISOString().slice(0, 10);
      expect(await windows.count()).toBe(5);
      for (const index of [0, 4]) {
        const text = `${day(index)} 00:00 to ${day(index + 1)} 00:00 UTC`;
        expect(await windows.nth(index).textContent()).toContain(text);
      }
      expect(await windows.first().locator('time').getAttribute('datetime')).toBe(`${day(1)}T00:10:00.000Z`);
      expect(await seriousFindings(page)).toEqual([]);
      await page.getByRole('button', { name: 'Cancel', exact: true }).click();
      await page.getByRole('button', { name: 'Cancel export' }).click();
      await page.getByText('Cancelled', { exact: true }).waitFor();
      await windows.first().waitFor({ state: 'detached' });
    });

    it('fails with what the bucket said, and completes when it is retried', async () => {
      const bucket = (name: string) =>
        served.gantry.sql.query(
          `UPDATE export_destinations SET config = jsonb_set(config::jsonb, '{bucket_name}', to_jsonb($2::text))
            WHERE destination_id = $1`,
          [destination, name],
        );
      await bucket('no-such-bucket');
      const { id } = await call<{ id: string }>('POST', '/bulk-exports', {
        bulk_export_destination_id: destination,
        session_id: project,
        start_time: new Date(Date.now() - DAY_MS).toISOString(),
        end_time: new Date(Date.now() + DAY_MS).toISOString(),
      });
      const page = await open(`/exports/${id}`);
      await page.getByRole('alert').getByText('Bucket is not valid').waitFor();
      expect(await seriousFindings(page)).toEqual([]);
      await bucket(testStore().bucket);
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.getByText('The days that failed are exported again.').waitFor();
      await page.getByText('Completed', { exact: true }).first().waitFor();
      await page.getByRole('button', { name: 'Verify' }).waitFor();

      // A day that is open is read again until it has ended.
      const answer = await fetch(`${served.gantry.url}/api/v1/bulk-exports/${id}/runs`);
      const [day] = (await answer.json()) as { id: string }[];
      await page.route(
        `**/bulk-exports/${id}/runs/${day.id}`,
        (route) => route.fulfill({ json: { ...day, status: 'Running' } }),
        { times: 1 },
      );
      await page.goto(`${served.gantry.url}/console/exports/${id}?day=${day.id}`);
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Running', { exact: true }).waitFor();
      await dialog.getByText('Completed', { exact: true }).waitFor();
    });
  });

  it('reads a trace again until its runs have ended', async () => {
    const start = new Date();
    const stamp = start.toISOString().replace(/[-:.]/g, '').replace('Z', '000Z');
    const [id, step] = ['019a0000-0000-7000-8000-000000020000', '019a0000-0000-7000-8000-000000020001'];
    const root = { id, trace_id: id, dotted_order: `${stamp}${id}` };
    const begun = { run_type: 'chain', start_time: start.toISOString(), session_name: 'slow', inputs: {} };
    await call('POST', '/runs/batch', { post: [{ ...root, ...begun, name: 'slow' }], patch: [] });
    const page = await open('/traces');
    await page.getByRole('link', { name: 'slow' }).click();
    await page.getByRole('table', { name: 'Traced runs' }).getByRole('link', { name: 'slow' }).click();
    await page.getByRole('treeitem', { name: /slow/ }).waitFor();
    await page.getByRole('heading', { name: 'slow', exact: true }).waitFor();
    const end = { end_time: new Date().toISOString(), outputs: { answer: 'at last' } };
    const child = { id: step, trace_id: id, parent_run_id: id, dotted_order: `${stamp}${id}.${stamp}${step}` };
    await call('POST', '/runs/batch', {
      post: [{ ...child, ...begun, name: 'its step', ...end }],
      patch: [{ ...root, ...end }],
    });
    await page.getByRole('treeitem', { name: /its step/ }).waitFor();
    await page.getByText('at last').waitFor();
  });

  it('keeps the rows of a list, and the focus in them, while its window moves on', async () => {
    const page = await served.browser.open('about:blank');
    await page.clock.install();
    await page.goto(`${served.gantry.url}/console/traces/${(await tracedProject()).project_id}`);
    const run = page.getByRole('table', { name: 'Traced runs' }).getByRole('link').first();
    await run.focus();
    await page.getByText(/ runs · .* tokens · /).waitFor();
    // The totals of the page are those of the whole window, and not of a step of a chart.
    const totals = page.waitForResponse(
      (response) =>
        response.url().endsWith('/runs/stats') && !('end_time' in (response.request().postDataJSON() as object)),
    );
    await page.clock.fastForward('02:00');
    await totals;
    expect(await hasFocus(run)).toBe(true);
  });

  it('opens a trace of 5,000 runs, and renders only the visible ones', async () => {
    const page = await open('/traces');
    const { project, trace } = await largeTrace();
    await page.goto(`${served.gantry.url}/console/traces/${project}/${trace}`);
    await page.getByText('5,000 runs').waitFor();
    expect(await page.getByRole('treeitem').count()).toBeLessThan(200);
    await page.getByRole('tree').press('ArrowDown');
    await page.getByRole('heading', { name: 'step 1', exact: true }).waitFor();
  });

  it('reads a list again and again only while it has one page', async () => {
    const statuses = Array.from({ length: ENDED_EXPORTS }, () => 'TimedOut' as const);
    await insertEndedExports(served.gantry, statuses);
    const page = await served.browser.open('about:blank');
    await page.clock.install();
    const offsets: (string | null)[] = [];
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url());
      if (pathname === '/api/v1/bulk-exports' && searchParams.get('status') === 'TimedOut')
        offsets.push(searchParams.get('offset'));
    });
    await page.goto(`${served.gantry.url}/console/exports?status=TimedOut`);
    const table = page.getByRole('table', { name: 'Exports' });
    await table.getByRole('row').nth(1).waitFor();
    await page.clock.runFor(60_000);
    await waitFor('the first page to be read again', () => offsets.length > 1);
    expect(offsets).not.toContain('100');
    await waitFor('the last row', async () => {
      await table.press('End');
      return (await table.getByRole('row').last().getAttribute('aria-rowindex')) === String(ENDED_EXPORTS + 1);
    });
    const before = offsets.length;
    await page.clock.runFor(60_000);
    expect(offsets.length).toBe(before);
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
    const response = await fetch(`${served.gantry.url}/api/v1/runs/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ post: runs, patch: [] }),
    });
    expect(response.status).toBe(202);
    const { rows } = await served.gantry.sql.query<{ project_id: string }>(
      `SELECT project_id FROM trace_projects WHERE name = 'large traces'`,
    );
    return { project: rows[0].project_id, trace: id(0) };
  }
});
