import { WebhookStack } from '../support/webhook-stack';

describe('relative webhooks where keys are required', () => {
  let stack: WebhookStack;

  beforeAll(async () => {
    stack = await WebhookStack.start({ GANTRY_AUTH: 'on', GANTRY_API_KEY: 'gantry-test-key-0123456789' });
    await stack.startWorker();
  });

  afterAll(() => stack.stop());

  it('are authenticated as the tenant of the run', async () => {
    const { status, body } = await stack.post('/webhooks/test', { url: '/webhooks/test' });
    expect(status).toBe(202);
    const delivery = await stack.ended(body.delivery_id);
    // The sample is no test request: its 422 comes from after the guard.
    expect(delivery).toMatchObject({ host: 'internal', last_outcome: 'client_error', last_response_code: 422 });
    expect(delivery.attempts[0]?.request_headers).not.toHaveProperty('x-api-key');
  });
});
