import type { LookupAddress } from 'node:dns';
import { AddressPolicy } from '../network/address-policy';
import { EndpointPolicy, EndpointRefused } from './endpoint-policy';

const policyFor = (cidrs: string[], own?: string): EndpointPolicy =>
  new EndpointPolicy(new AddressPolicy(cidrs), own === undefined ? undefined : new URL(own));

describe('the endpoint policy', () => {
  it.each([
    ['http://169.254.169.254', ['0.0.0.0/0']],
    ['http://0xa9fea9fe', ['0.0.0.0/0']],
    ['http://2852039166', ['0.0.0.0/0']],
    ['http://[::ffff:a9fe:a9fe]', ['0.0.0.0/0']],
    ['http://100.100.100.200', ['100.64.0.0/10']],
    ['http://[fd00:ec2::254]', ['fc00::/7']],
    ['http://127.0.0.1:9000', []],
    ['http://127.0.0.1:9000', ['10.0.0.0/8']],
    ['http://[::1]:9000', ['127.0.0.0/8']],
    ['http://[::127.0.0.1]:9000', ['127.0.0.0/8']],
    ['http://[64:ff9b::7f00:1]', ['127.0.0.0/8']],
    ['http://[2002:7f00:1::]', ['127.0.0.0/8']],
    ['https://s3.amazonaws.com', []],
    ['https://bucket.s3.eu-west-1.amazonaws.com', []],
    ['https://s3.cn-north-1.amazonaws.com.cn', []],
  ])('refuses %s when %j is allowed', (url, cidrs) => {
    expect(() => policyFor(cidrs).check(new URL(url))).toThrow(EndpointRefused);
  });

  it.each([
    ['https://storage.googleapis.com', []],
    ['https://notamazonaws.com', []],
    ['http://8.8.8.8', []],
    ['http://127.0.0.1:9000', ['127.0.0.0/8']],
    ['http://[fd12::1]', ['fd12::/16']],
    ['http://169.254.169.254', ['169.254.169.254/32']],
  ])('accepts %s when %j is allowed', (url, cidrs) => {
    expect(() => policyFor(cidrs).check(new URL(url))).not.toThrow();
  });

  it('accepts the deployment’s own store, and no other port of its host', () => {
    const policy = policyFor([], 'http://10.0.0.5:7070');
    expect(() => policy.check(new URL('http://10.0.0.5:7070/'))).not.toThrow();
    for (const other of ['http://10.0.0.5', 'http://10.0.0.5:5432', 'https://10.0.0.5:7070', 'http://10.0.0.6:7070']) {
      expect(() => policy.check(new URL(other))).toThrow(EndpointRefused);
    }
  });

  it('checks the addresses of a name when it connects, and answers as for an unknown name', async () => {
    const resolve = (cidrs: string[], name: string) =>
      new Promise<Error | string | LookupAddress[]>((done) =>
        policyFor(cidrs).lookupFor(new URL(`http://${name}`))!(name, { all: true }, (error, found) =>
          done(error ?? found),
        ),
      );
    expect(await resolve(['127.0.0.0/8', '::1/128'], 'localhost')).toContainEqual({ address: '127.0.0.1', family: 4 });
    const [refused, unknown] = [await resolve([], 'localhost'), await resolve([], 'nowhere.invalid')];
    expect(refused).toBeInstanceOf(EndpointRefused);
    expect((unknown as Error).message).toBe((refused as Error).message);
  });
});
