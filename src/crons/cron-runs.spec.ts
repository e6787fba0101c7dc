import { randomBytes } from 'node:crypto';
import type { AppConfig } from '../config/config';
import { SEALED_FIELDS } from '../crypto/sealed-fields';
import { SecretBox, UnknownSealingKey } from '../crypto/secret-box';
import { SecretValues } from '../crypto/secret-values';
import type { CronFireEntity } from './cron-fire.entity';
import type { CronEntity } from './cron.entity';
import { CronRuns } from './cron-runs';

const [tenantId, cronId] = ['tenant', 'cron'];
const box = (key: Buffer): SecretBox => new SecretBox({ secrets: { sealingKeys: [key] } } as unknown as AppConfig);

/** The failure of a tick whose webhook is sealed with a key that this process lacks. */
async function failureOf(ageMs: number, isAwaited = false): Promise<unknown> {
  const webhook = box(randomBytes(32)).seal('https://example.com', SEALED_FIELDS.cronWebhook.context(tenantId, cronId));
  const own = box(randomBytes(32));
  const runs = new CronRuns({} as never, {} as never, own, new SecretValues(own));
  const cron = { tenantId, cronId, webhook, authUser: null, payload: {} } as unknown as CronEntity;
  // A tick of last year, such as one of a backfill.
  const fire = { scheduledAt: new Date('2025-01-01'), createdAt: new Date(Date.now() - ageMs) } as CronFireEntity;
  try {
    return await runs.createRunOfTick(cron, fire, isAwaited);
  } catch (error) {
    return error;
  }
}

describe('the run of a tick, in a process that lacks the key of its webhook', () => {
  it('is left to other processes for half an hour, however late the tick is', async () => {
    expect(await failureOf(60_000)).toBeInstanceOf(UnknownSealingKey);
    expect(await failureOf(3_600_000)).toMatchObject({ status: 409, code: 'cron_webhook_unreadable' });
  });

  it('is refused at once where a client waits for the answer', async () => {
    expect(await failureOf(0, true)).toMatchObject({ status: 409, code: 'cron_webhook_unreadable' });
  });
});
