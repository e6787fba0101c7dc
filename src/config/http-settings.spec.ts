import { ConfigError } from './config-error';
import { HttpSettings } from './http-settings';

const parse = (http: unknown): HttpSettings => HttpSettings.parse({ graphs: {}, http }, '/project/langgraph.json');

function problemsOf(http: unknown): string {
  try {
    parse(http);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.join('\n');
    throw error;
  }
  return '';
}

describe('the http section of langgraph.json', () => {
  it.each([undefined, null, {}])('is open by default (%j)', (http) => {
    const settings = parse(http);
    expect(settings.cors).toMatchObject({ origins: ['*'], credentials: false, headers: undefined });
    expect(settings.cors.exposedHeaders).toEqual(
      expect.arrayContaining(['Content-Location', 'Location', 'X-Pagination-Total', 'X-Pagination-Next']),
    );
    expect(settings).toMatchObject({ mountPrefix: '', isMetaDisabled: false, app: undefined, protectsApp: true });
    expect(settings.isDisabled(['Assistants', 'Threads', 'Thread Runs', 'Store', 'MCP', 'A2A', 'Crons'])).toBe(false);
    expect(settings.configurableHeaders.of({ 'x-user-id': 'u' })).toEqual({});
  });

  it('disables groups of routes by their tags; disabling runs disables crons', () => {
    const settings = parse({ disable_runs: true, disable_store: true });
    for (const tag of ['Thread Runs', 'Stateless Runs', 'Crons', 'Store'])
      expect(settings.isDisabled([tag])).toBe(true);
    for (const tag of ['Assistants', 'Threads', 'System', 'Webhooks']) expect(settings.isDisabled([tag])).toBe(false);
  });

  it.each([
    [{ disable_assistant: true }, 'disable_assistant'],
    [{ disable_runs: 'yes' }, 'http.disable_runs'],
    [{ cors: { allow_origin_regex: '(' } }, 'http.cors.allow_origin_regex'],
    [{ cors: { allow_origins: ['*'], allow_credentials: true } }, 'name the origins'],
    [{ cors: { origins: ['*'] } }, 'origins'],
    [{ mount_prefix: 'agents' }, 'http.mount_prefix'],
    [{ mount_prefix: '/noauth' }, 'reserved'],
    [{ mount_prefix: '/a?b' }, 'http.mount_prefix'],
    [{ app: './app' }, 'http.app'],
  ])('refuses %j, naming what is wrong', (http, message) => {
    expect(problemsOf(http)).toContain(message);
  });

  it('takes an exact origin, and a pattern that has to match the whole origin', () => {
    const { origins } = parse({
      cors: { allow_origins: ['https://a.example'], allow_origin_regex: 'https://.*\\.example' },
    }).cors;
    expect(origins[0]).toBe('https://a.example');
    expect((origins[1] as RegExp).test('https://b.example')).toBe(true);
    expect((origins[1] as RegExp).test('https://b.example.evil.test')).toBe(false);
  });

  it('strips the trailing slash of a prefix', () => {
    expect(parse({ mount_prefix: '/agents/v1/' }).mountPrefix).toBe('/agents/v1');
  });

  describe('header patterns', () => {
    const headers = {
      'X-User-Id': 'u1',
      'x-user-token': 't',
      'x-trace': ['a', 'b'],
      authorization: 'Bearer secret',
      'x-api-key': 'secret',
      'X-Tenant-Id': 'tenant',
      'x-service-key': 'secret',
      cookie: 'session=1',
    };

    it('match names in any case and wildcards, yield lower case, and let excludes win', () => {
      const { configurableHeaders } = parse({ configurable_headers: { includes: ['X-*'], excludes: ['*-TOKEN'] } });
      expect(configurableHeaders.of(headers)).toEqual({ 'x-user-id': 'u1', 'x-trace': 'a, b' });
    });

    it('select the position in a trace without a pattern for graphs alone, unless they exclude it', () => {
      const traced = { 'langsmith-trace': '20260101T000000000000Z1', baggage: 'langsmith-tags=a', 'x-user-id': 'u1' };
      const { 'x-user-id': _, ...position } = traced;
      expect(parse({}).configurableHeaders.of(traced)).toEqual(position);
      expect(parse({}).loggedHeaders.of(traced)).toEqual({});
      const without = { configurable_headers: { excludes: ['langsmith-*', 'baggage'] } };
      expect(parse(without).configurableHeaders.of(traced)).toEqual({});
    });

    it('never match credentials, whatever they contain', () => {
      const all = { includes: ['*', 'authorization', 'x-api-key', 'X-Tenant-Id', 'x-service-key'] };
      const settings = parse({ configurable_headers: all, logging_headers: all });
      expect(Object.keys(settings.configurableHeaders.of(headers)).sort()).toEqual([
        'cookie',
        'x-trace',
        'x-user-id',
        'x-user-token',
      ]);
      expect(Object.keys(settings.loggedHeaders.of(headers))).not.toContain('cookie');
      expect(JSON.stringify(settings.loggedHeaders.of(headers))).not.toContain('secret');
    });

    it('match the dot and other special characters literally', () => {
      const { configurableHeaders } = parse({ configurable_headers: { include: ['x.a'] } });
      expect(configurableHeaders.of({ 'x-a': '1', 'x.a': '2' })).toEqual({ 'x.a': '2' });
    });
  });
});
