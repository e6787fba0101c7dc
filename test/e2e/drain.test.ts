import { Client } from '@langchain/langgraph-sdk';
import { createTestDatabase, type TestDatabase } from '../support/database';
import { SupervisedGantry } from '../support/supervised-gantry';
import { createNamespace, temporalAddress, type TestNamespace } from '../support/temporal';
import { waitFor } from '../support/wait-for';

const STEPS = 10;

/** `npm start`, whose api is told to stop while clients are with it, as in a rolling deploy. */
describe('an api that is told to stop', () => {
  let database: TestDatabase;
  let namespace: TestNamespace;
  let gantry: SupervisedGantry;
  let client: Client;

  beforeAll(async () => {
    [database, namespace] = await Promise.all([createTestDatabase(), createNamespace()]);
    const s3 = JSON.parse(process.env.GANTRY_TEST_S3!) as Record<string, string>;
    gantry = await SupervisedGantry.start({
      DATABASE_URL: database.url,
      TEMPORAL_ADDRESS: temporalAddress(),
      TEMPORAL_NAMESPACE: namespace.name,
      GANTRY_S3_ENDPOINT: s3.endpoint,
      GANTRY_S3_BUCKET: s3.bucket,
      GANTRY_S3_REGION: s3.region,
      GANTRY_S3_ACCESS_KEY_ID: s3.access_key_id,
      GANTRY_S3_SECRET_ACCESS_KEY: s3.secret_access_key,
      GANTRY_DRAIN_DELAY_SECONDS: '2',
    });
    client = new Client({ apiUrl: gantry.endpoints.api, apiKey: null, callerOptions: { maxRetries: 0 } });
  }, 240_000);

  afterAll(async () => {
    await gantry?.discard();
    await namespace?.drop();
    await database?.drop();
  }, 90_000);

  /** Tells it to stop; resolves when the supervisor has another one running. */
  async function restartApi(): Promise<void> {
    const { pids } = gantry.endpoints;
    process.kill(pids.api, 'SIGTERM');
    await waitFor('the next api', () => gantry.endpoints.pids.api !== pids.api, 60_000);
  }

  const isReady = async (): Promise<number | undefined> =>
    fetch(`${gantry.endpoints.api}/ready`).then(
      ({ status }) => status,
      () => undefined,
    );

  it('is unready before it refuses anything, and ends by itself', async () => {
    const restarted = restartApi();
    await waitFor('the api to be unready', async () => (await isReady()) === 503);
    // It goes on serving while load balancers learn that.
    expect(await client.threads.create()).toHaveProperty('thread_id');
    await restarted;
    expect(await isReady()).toBe(200);
    expect(gantry.printed).not.toMatch(/api.*SIGKILL/);
  }, 90_000);

  it('breaks its streams off so that the public client goes on where it was, without a gap or a repeat', async () => {
    const { thread_id } = await client.threads.create();
    const seen: string[] = [];
    const ids: string[] = [];
    let restarted: Promise<void> | undefined;
    const stream = client.runs.stream(thread_id, 'pipeline', { input: { step_ms: 700 }, streamMode: 'updates' });
    for await (const { event, data, id } of stream) {
      if (id !== undefined) ids.push(id);
      if (event === 'updates') seen.push(...Object.keys(data));
      if (seen.length === 2) restarted ??= restartApi();
    }
    await restarted;
    expect(seen).toEqual(Array.from({ length: STEPS }, (_, index) => `step_${index + 1}`));
    expect(ids.map(Number)).toEqual(ids.map((_, index) => index));
  }, 120_000);

  it('answers a call that waits for a run which ends in time', async () => {
    const waiting = client.runs.wait(null, 'pipeline', { input: { step_ms: 400 } });
    await new Promise((resolve) => setTimeout(resolve, 500));
    const restarted = restartApi();
    expect(await waiting).toMatchObject({ done: expect.any(Array) });
    await restarted;
  }, 120_000);
});
