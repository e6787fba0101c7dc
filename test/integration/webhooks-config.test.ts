import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../src/config/config-error';
import { DeliveriesService } from '../../src/webhooks/deliveries.service';
import { startTestApi } from '../support/api';
import { createTestDatabase, TestDatabase } from '../support/database';

const GRAPHS = { approval: join(__dirname, '..', '..', 'examples', 'graphs', 'approval.ts:graph') };

describe('webhook settings at the start', () => {
  let folder: string;
  let database: TestDatabase;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-webhooks-'));
    database = await createTestDatabase();
  });

  afterAll(async () => {
    await database.drop();
    rmSync(folder, { recursive: true });
  });

  function start(langgraph: object, environment: Record<string, string> = {}) {
    const config = join(folder, 'langgraph.json');
    writeFileSync(config, JSON.stringify({ graphs: GRAPHS, ...langgraph }));
    return startTestApi({ GANTRY_CONFIG: config, ...environment }, database);
  }

  it('prevent it, with every problem named and no value shown', async () => {
    const headers = { 'X-One': '${{ env.LG_WEBHOOK_ONE }}', 'X-Two': '${{ env.PATH }}' };
    const refused = start(
      { webhooks: { headers } },
      { GANTRY_WEBHOOK_SECRETS: 'whsec_c2VjcmV0', GANTRY_WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8,nonsense' },
    );
    await expect(refused).rejects.toThrow(ConfigError);
    const { message } = (await refused.catch((error: unknown) => error)) as ConfigError;
    expect(message).toMatch(/webhooks\.headers\.X-One: the environment variable LG_WEBHOOK_ONE is missing/);
    expect(message).toMatch(/webhooks\.headers\.X-Two: the variable PATH must start with LG_WEBHOOK_/);
    expect(message).toMatch(/GANTRY_WEBHOOK_SECRETS: secret 1 must be/);
    expect(message).toMatch(/GANTRY_WEBHOOK_ALLOW_CIDRS: not in CIDR form: nonsense/);
    expect(message).not.toContain('c2VjcmV0');
  });

  it('accept a variable from the env of langgraph.json too', async () => {
    const api = await start({
      env: { LG_WEBHOOK_ONE: 'one' },
      webhooks: { headers: { 'X-One': '${{ env.LG_WEBHOOK_ONE }}' } },
    });
    await api.close();
  });

  it('turn deliveries off: a run is accepted and nothing is sent', async () => {
    const api = await start({ http: { disable_webhooks: true } });
    try {
      const deliveries = api.app.get(DeliveriesService, { strict: false });
      const webhook = {
        tenantId: api.config.auth.defaultTenantId as never,
        runId: 'r',
        threadId: 't',
        url: '/x',
        payload: {},
      };
      expect(await deliveries.enqueueDelivery(undefined as never, webhook)).toBeUndefined();
      const response = await fetch(`${api.url}/webhooks/test`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ url: '/x' }),
      });
      expect(response.status).toBe(409);
    } finally {
      await api.close();
    }
  });
});
