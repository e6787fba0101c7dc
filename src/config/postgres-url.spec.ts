import { toLibpqUrl } from './postgres-url';

describe('toLibpqUrl', () => {
  const BASE = 'postgres://user:p%23w@db.example.com:5432/gantry';

  it.each([
    [
      'encrypts without verification',
      '?sslmode=no-verify&sslrootcert=/ca.pem&user=graphs',
      '?sslmode=require&user=graphs',
    ],
    ['keeps modes that both drivers have', '?uselibpqcompat=true&sslmode=verify-ca', '?sslmode=verify-ca'],
    ['removes the parameter from a URL that has no other', '?uselibpqcompat=true', ''],
    [
      'writes blanks as libpq reads them',
      '?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=/my%20certs/ca.pem&options=-c%20a%3D1%2B1',
      '?sslmode=verify-ca&sslrootcert=%2Fmy%20certs%2Fca.pem&options=-c%20a%3D1%2B1',
    ],
  ])('%s', (_what, given, expected) => {
    expect(toLibpqUrl(BASE + given)).toBe(BASE + expected);
  });

  it('leaves other URLs as they are', () => {
    const query = '?sslmode=verify-full&sslrootcert=/my%20certs/ca.pem';
    expect(toLibpqUrl(BASE + query)).toBe(BASE + query);
  });
});
