import { checkEndpoint, EndpointRefused, guardedLookup, refusalOf } from './endpoint-policy';

describe('the endpoint policy', () => {
  it.each([
    '169.254.169.254',
    '169.254.170.2',
    'fe80::1',
    'fd00:ec2::254',
    '::ffff:169.254.169.254',
    '100.100.100.200',
    '0.0.0.0',
    '::',
    '255.255.255.255',
    '224.0.0.1',
  ])('never lets %s through', (address) => {
    expect(refusalOf(address, true)).toBeDefined();
    expect(refusalOf(address, false)).toBeDefined();
  });

  it.each(['127.0.0.1', '::1', '10.0.0.1', '172.16.5.4', '192.168.1.1', '100.64.0.1', 'fd12::1', '::ffff:10.0.0.1'])(
    'lets %s through where private endpoints are allowed',
    (address) => {
      expect(refusalOf(address, true)).toBeUndefined();
      expect(refusalOf(address, false)).toBeDefined();
    },
  );

  it.each(['8.8.8.8', '2606:4700::1111'])('lets %s through', (address) => {
    expect(refusalOf(address, false)).toBeUndefined();
  });

  it.each([
    ['http://169.254.169.254', true],
    ['http://0xa9fea9fe', true],
    ['http://2852039166', true],
    ['http://[::ffff:a9fe:a9fe]', true],
    ['http://127.0.0.1:9000', false],
    ['https://s3.amazonaws.com', true],
    ['https://bucket.s3.eu-west-1.amazonaws.com', true],
    ['https://s3.cn-north-1.amazonaws.com.cn', true],
  ])('refuses the endpoint %s', (url, allowPrivate) => {
    expect(() => checkEndpoint(new URL(url), allowPrivate)).toThrow(EndpointRefused);
  });

  it.each(['https://storage.googleapis.com', 'http://127.0.0.1:9000', 'https://notamazonaws.com'])(
    'takes %s',
    (url) => {
      expect(() => checkEndpoint(new URL(url), true)).not.toThrow();
    },
  );

  it('refuses a name that resolves to a private address, when it is connected to', async () => {
    const resolve = (allowPrivate: boolean) =>
      new Promise((done) =>
        guardedLookup(allowPrivate)('localhost', { all: true }, (error, found) => done(error ?? found)),
      );
    expect(await resolve(false)).toBeInstanceOf(EndpointRefused);
    expect(await resolve(true)).toEqual(expect.arrayContaining([expect.objectContaining({ family: 4 })]));
  });
});
