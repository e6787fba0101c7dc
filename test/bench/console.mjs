// How fast the console is for the person in front of it, in a real browser against a real Gantry; docs/console.md has the table.
//   npm run build && node test/bench/console.mjs [rounds] [home|runs|stream|trace]
// Needs Chromium, which the tests with a browser use as well.
/* global document, PerformanceObserver, requestAnimationFrame */
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { findChromium } from '../../scripts/services/chromium.mjs';
import { ROOT } from '../../scripts/services/paths.mjs';
import { insertRuns, uploadTrace } from './console-rows.mjs';
import { withGantry } from './gantry.mjs';
import { ms, percentile } from './measure.mjs';
import { post } from './post.mjs';
import { wait } from './runs.mjs';

const ROUNDS = Number(process.argv[2] ?? 5);
const ONLY = process.argv[3];
const RUNS = 100_000;
const SPANS = 5_000;
/** A frame that takes longer was dropped at 30 frames a second. */
const DROPPED_MS = 34;
/** Turns of the mouse wheel in one measurement, and the pixels of each: 5,250 rows of the list. */
const TURNS = 300;
const TURN_PX = 700;
const TIMEOUT_MS = 120_000;
const ROW = '[role=row][data-index]';
const PACED = { assistant_id: 'paced', input: { messages: [{ role: 'user', content: 'Say it.' }] } };

const median = (/** @type {number[]} */ values) => percentile(values, 0.5);
/** @param {string} what @param {string} figure */
const row = (what, figure) => console.log(`| ${what.padEnd(64)} | ${figure.padEnd(56)} |`);
/** @param {string} what @param {number[]} values milliseconds, one of each round */
const times = (what, values) => row(what, `median ${ms(median(values))}, worst ${ms(Math.max(...values))}`);

/** Runs in the page from its start: the time of each frame, and tasks of 50 ms and more. */
function watchFrames() {
  /** @type {number[]} */
  const frames = [];
  /** @type {number[]} */
  const tasks = [];
  let last = performance.now();
  const tick = (/** @type {number} */ now) => {
    frames.push(now - last);
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
    type: 'longtask',
  });
  Object.assign(globalThis, {
    startWatch: () => {
      frames.length = 0;
      tasks.length = 0;
    },
    endWatch: () => ({ frames, tasks }),
  });
}

/**
 * Runs in the page: when an element has this text in a frame that was painted, in milliseconds from the page's navigation.
 * @param {{ selector: string, text: string }} wanted
 */
function paintOf({ selector, text }) {
  const isThere = () =>
    [...document.querySelectorAll(selector)].some(({ textContent }) => new RegExp(text).test(textContent));
  return new Promise((resolve) => {
    const look = () => {
      if (isThere()) requestAnimationFrame(() => resolve(performance.now()));
      else requestAnimationFrame(look);
    };
    look();
  });
}

/** @typedef {{ frames: number[], tasks: number[] }} Watched */

/** @param {string} what @param {Watched[]} rounds */
function frameRows(what, rounds) {
  const longest = rounds.map(({ frames }) => Math.max(...frames));
  const dropped = rounds.map(({ frames }) => (100 * frames.filter((each) => each > DROPPED_MS).length) / frames.length);
  const tasks = rounds.map((each) => Math.max(0, ...each.tasks));
  times(`${what}: longest frame`, longest);
  row(`${what}: frames`, `${rounds.map(({ frames }) => frames.length).join(', ')}`);
  row(`${what}: longest task above 50 ms`, `median ${ms(median(tasks))}, worst ${ms(Math.max(...tasks))}`);
  row(
    `${what}: frames above ${DROPPED_MS} ms`,
    `median ${median(dropped).toFixed(1)} %, worst ${Math.max(...dropped).toFixed(1)} %`,
  );
}

/** @param {import('playwright-core').Page} page @param {() => Promise<void>} work @returns {Promise<Watched>} */
async function watched(page, work) {
  await page.evaluate('startWatch()');
  await work();
  return page.evaluate('endWatch()');
}

/** Runs in the page: milliseconds from its navigation to its first paint. */
function firstPaint() {
  return new Promise((resolve) => {
    new PerformanceObserver((list) => {
      const [paint] = list.getEntriesByName('first-contentful-paint');
      if (paint) resolve(paint.startTime);
    }).observe({ type: 'paint', buffered: true });
  });
}

/**
 * Runs in the page: scrolls a list to its end again and again until it has all of its rows.
 * @param {HTMLElement} table
 * @param {number} count
 */
function toTheEnd(table, count) {
  return new Promise((/** @type {(value?: undefined) => void} */ resolve) => {
    const down = () => {
      table.scrollTop = table.scrollHeight;
      const last = [...table.querySelectorAll('[aria-rowindex]')].at(-1)?.getAttribute('aria-rowindex');
      if (Number(last) > count) resolve();
      else requestAnimationFrame(down);
    };
    down();
  });
}

/** @param {string} url bytes of the first page's code and styles, and answers, compressed by gzip where they are compressed */
async function firstPageBytes(url) {
  const text = await (await fetch(url)).text();
  const assets = [...text.matchAll(/(?:src|href)="([^"]+\.(?:js|css|svg))"/g)].map(([, path]) => path);
  let bytes = text.length;
  for (const path of new Set(assets)) {
    const response = await fetch(new URL(path, url), { headers: { 'accept-encoding': 'gzip' } });
    bytes += Number(response.headers.get('content-length'));
    await response.arrayBuffer();
  }
  return bytes;
}

/** @param {import('playwright-core').Browser} browser @param {(page: import('playwright-core').Page) => Promise<any>} work */
async function inPage(browser, work) {
  const context = await browser.newContext({ viewport: { width: 1360, height: 860 } });
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(TIMEOUT_MS);
    await page.addInitScript(watchFrames);
    return await work(page);
  } finally {
    await context.close();
  }
}

/**
 * @template T
 * @param {(round: number) => Promise<T>} work
 * @returns {Promise<T[]>}
 */
async function rounds(work) {
  const results = [];
  for (let round = 0; round < ROUNDS; round += 1) results.push(await work(round));
  return results;
}

/** @typedef {{ browser: import('playwright-core').Browser, api: string, site: string, postgres: string }} Place */

/** With an empty cache each time: a context of the browser has its own. @param {Place} place */
async function measureHome({ browser, site }) {
  const figures = { selector: 'a[href$="status=running"]', text: '\\d' };
  const paints = await rounds(() =>
    inPage(browser, async (page) => {
      await page.goto(site, { waitUntil: 'commit' });
      const useful = await page.evaluate(paintOf, figures);
      return { useful, first: await page.evaluate(firstPaint) };
    }),
  );
  times(
    'Home: first paint',
    paints.map(({ first }) => first),
  );
  times(
    'Home: figures of the deployment are painted',
    paints.map(({ useful }) => useful),
  );
  row('Home: first page, gzip, without fonts', `${((await firstPageBytes(site)) / 1024).toFixed(0)} KB`);
}

/** @param {Place} place */
async function measureRuns({ browser, api, site, postgres }) {
  await wait(api, PACED);
  const response = await post(`${api}/runs/search`, { status: ['success'], limit: 1 });
  const [{ run_id: ended }] = await response.json();
  await insertRuns(postgres, ended, RUNS);
  const scrolls = await rounds(() =>
    inPage(browser, async (page) => {
      await page.goto(`${site}/runs`);
      await page.locator(ROW).first().waitFor();
      await page.mouse.move(700, 500);
      const turn = async (/** @type {number} */ pixels) => {
        for (let count = 0; count < TURNS; count += 1) await page.mouse.wheel(0, pixels);
      };
      const loading = await watched(page, () => turn(TURN_PX));
      const all = await watched(page, () => page.getByRole('table', { name: 'Runs' }).evaluate(toTheEnd, RUNS));
      const loaded = await watched(page, () => turn(-TURN_PX));
      return { loading, all, loaded };
    }),
  );
  frameRows(
    'Runs: scrolled while pages load',
    scrolls.map(({ loading }) => loading),
  );
  frameRows(
    'Runs: all 100,000 loaded, page after page',
    scrolls.map(({ all }) => all),
  );
  frameRows(
    'Runs: scrolled in 100,000 loaded ones',
    scrolls.map(({ loaded }) => loaded),
  );
}

/**
 * Reads a stream as the playground does, outside of the browser.
 * @param {string} api
 * @param {() => Promise<unknown>} onFirst called at the first token
 */
async function readStream(api, onFirst) {
  const { thread_id: thread } = await (await post(`${api}/threads`, {})).json();
  const options = { stream_subgraphs: true, stream_resumable: true, on_disconnect: 'continue' };
  const modes = ['values', 'messages-tuple', 'updates', 'custom', 'tasks'];
  const response = await post(`${api}/threads/${thread}/runs/stream`, { ...PACED, ...options, stream_mode: modes });
  const decoder = new TextDecoder();
  let hasBegun = false;
  for await (const chunk of response.body ?? []) {
    if (hasBegun || !decoder.decode(chunk, { stream: true }).includes('event: messages')) continue;
    hasBegun = true;
    await onFirst();
  }
}

/** Frames of a blank page while a program beside the browser reads the same stream. @param {Place} place */
const watchBlank = ({ browser, api }) =>
  inPage(browser, async (page) => {
    await page.goto('data:text/html,<title>blank</title>');
    await readStream(api, () => page.evaluate('startWatch()'));
    return page.evaluate('endWatch()');
  });

/** Frames of the playground while it streams. @param {Place} place @param {boolean} hasEvents */
const watchPlayground = ({ browser, site }, hasEvents) =>
  inPage(browser, async (page) => {
    await page.goto(`${site}/playground?assistant=paced${hasEvents ? '&events=open' : ''}`);
    await page.getByLabel('Message', { exact: true }).fill('Say it.');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Part 1', exact: true }).waitFor();
    return watched(page, () => page.getByRole('status').getByText('Running').waitFor({ state: 'detached' }));
  });

/** In turn, so that all have the machine in the same state. @param {Place} place */
async function measureStream(place) {
  const streams = await rounds(async () => ({
    blank: await watchBlank(place),
    plain: await watchPlayground(place, false),
    events: await watchPlayground(place, true),
  }));
  const rows = /** @type {const} */ ([
    ['Blank page beside the stream', 'blank'],
    ['Playground at 200 tokens/s', 'plain'],
    ['Playground at 200 tokens/s, with events', 'events'],
  ]);
  for (const [what, name] of rows) {
    frameRows(
      what,
      streams.map((each) => each[name]),
    );
  }
}

/** @param {Place} place */
async function measureTrace({ browser, api, site }) {
  const { project, trace } = await uploadTrace(api, SPANS);
  const root = { selector: '[role=treeitem]', text: 'reports' };
  const addressed = await rounds(() =>
    inPage(browser, async (page) => {
      await page.goto(`${site}/traces/${project}/${trace}`, { waitUntil: 'commit' });
      return page.evaluate(paintOf, root);
    }),
  );
  times('Trace of 5,000 runs: opened by its address', addressed);
  const clicked = await rounds(() =>
    inPage(browser, async (page) => {
      await page.goto(`${site}/traces/${project}`);
      const link = page.getByRole('link', { name: 'reports' });
      await link.waitFor();
      const begun = await link.evaluate((element) => {
        element.click();
        return performance.now();
      });
      return (await page.evaluate(paintOf, root)) - begun;
    }),
  );
  times('Trace of 5,000 runs: opened from its list', clicked);
}

const PARTS = { home: measureHome, runs: measureRuns, stream: measureStream, trace: measureTrace };

const program = await findChromium();
if (!program) throw new Error('There is no Chromium: install it, or name one in GANTRY_TEST_CHROMIUM');

await withGantry(
  async ({ api, postgres }) => {
    const browser = await chromium.launch({ executablePath: program, chromiumSandbox: process.getuid?.() !== 0 });
    try {
      row('what', 'figure');
      row('-'.repeat(64), '-'.repeat(56));
      for (const [name, measure] of Object.entries(PARTS)) {
        if (ONLY === undefined || ONLY === name) await measure({ browser, api, site: `${api}/console`, postgres });
      }
    } finally {
      await browser.close();
    }
  },
  { env: { GANTRY_TRACING: 'off', GANTRY_CONFIG: join(ROOT, 'test', 'bench', 'graphs', 'console.json') } },
);
