import { maskUrl } from './mask-url';

describe('maskUrl', () => {
  it.each([
    ['https://a.example/hook?token=s3cret', 'https://a.example/***?token=***'],
    ['https://a.example/hook?a=1&b=2=3&c', 'https://a.example/***?a=***&b=***&***'],
    ['https://a.example/hook?s3cret', 'https://a.example/***?***'],
    ['https://user:s3cret@a.example/', 'https://***@a.example/'],
    ['//user:s3cret@a.example/', '//***@a.example/'],
    ['https://a.example/a@b', 'https://a.example/***'],
    ['https://hooks.example/services/T0/B0/s3cret', 'https://hooks.example/***'],
    ['https://hooks.example\\\\s3cret', 'https://hooks.example/***'],
    ['https://hooks.example/***?a=***', 'https://hooks.example/***?a=***'],
    ['https://a.example/#s3cret', 'https://a.example/'],
    ['https://a.example/?x=1#s3cret?y=2', 'https://a.example/?x=***'],
    ['/relative?token=s3cret', '/relative?token=***'],
    ['not a url?token=s3cret', 'not a url?token=***'],
    ['https://a.example/?', 'https://a.example/?'],
  ])('shows %s as %s', (url, shown) => {
    expect(maskUrl(url)).toBe(shown);
  });
});
