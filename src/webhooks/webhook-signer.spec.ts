import { Webhook } from 'standardwebhooks';
import { WebhookSigner } from './webhook-signer';

const OLD = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const NEW = `whsec_${Buffer.alloc(24, 2).toString('base64')}`;

describe('webhook signer', () => {
  it('signs so that a receiver with either secret accepts, and one with neither refuses', () => {
    const headers = new WebhookSigner([OLD, NEW]).headers('msg_1', new Date(), '{"a":"ü"}');
    for (const secret of [OLD, NEW]) expect(new Webhook(secret).verify('{"a":"ü"}', headers)).toEqual({ a: 'ü' });
    const other = new Webhook(`whsec_${Buffer.alloc(24, 3).toString('base64')}`);
    expect(() => other.verify('{"a":"ü"}', headers)).toThrow('No matching signature');
    expect(() => new Webhook(OLD).verify('{"a":"u"}', headers)).toThrow('No matching signature');
  });

  it('sends id and timestamp without a secret too', () => {
    const headers = new WebhookSigner([]).headers('msg_1', new Date(1_700_000_000_900), '{}');
    expect(headers).toEqual({ 'webhook-id': 'msg_1', 'webhook-timestamp': '1700000000' });
  });

  it.each(['whsec_', 'whsec_c2hvcnQ=', `whsec_${Buffer.alloc(65).toString('base64')}`, `whsec_${'!'.repeat(40)}`])(
    'refuses %s without repeating it',
    (secret) => {
      expect(() => new WebhookSigner([OLD, secret])).toThrow(/^secret 2 (?!.*whsec_.+=)/);
    },
  );

  it('identifies keys by ids that do not reveal them', () => {
    const { keyIds } = new WebhookSigner([OLD, NEW]);
    expect(new Set(keyIds).size).toBe(2);
    expect(keyIds.join()).not.toContain(OLD.slice(6, 14));
  });
});
