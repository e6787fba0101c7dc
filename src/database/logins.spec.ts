import { Client } from 'pg';
import { withLogin } from './logins';

describe('withLogin', () => {
  const login = { role: 'gantry_graphs_1', password: 'p-_/?&%' };

  it.each([
    ['in front of the host', 'postgres://owner:s3cret@db:5433/gantry?sslmode=disable'],
    ['as parameters', 'postgres://db:5433/gantry?user=owner&password=s3cret&sslmode=disable'],
    ['twice', 'postgres://owner:s3cret@db:5433/gantry?user=owner&password=s3cret&password=s3cret&sslmode=disable'],
  ])('keeps none of the credentials that the URL has %s', (_, databaseUrl) => {
    const url = withLogin(databaseUrl, login);
    expect(url).not.toMatch(/owner|s3cret/);
    expect(new Client({ connectionString: url })).toMatchObject({
      user: login.role,
      password: login.password,
      host: 'db',
      port: 5433,
      database: 'gantry',
    });
    expect(url).toContain('sslmode=disable');
  });

  it('writes blanks of other parameters as libpq reads them, with which graphs in Python connect', () => {
    const url = withLogin('postgres://owner@db/gantry?options=-c%20search_path%3Dx', { ...login, password: 'a b+c' });
    expect(url).toBe('postgres://db/gantry?options=-c%20search_path%3Dx&user=gantry_graphs_1&password=a%20b%2Bc');
    expect(new Client({ connectionString: url })).toMatchObject({ password: 'a b+c' });
  });
});
