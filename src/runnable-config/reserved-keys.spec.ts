import { configSchema, contextSchema, metadataSchema } from './runnable-config.schemas';

describe('reserved keys', () => {
  it('are removed from configurable and context, and nothing else is', () => {
    const given = {
      langgraph_auth_user: { identity: 'root' },
      langgraph_auth_user_id: 'root',
      langgraph_auth_permissions: ['all'],
      __pregel_checkpointer: {},
      __pregel_resume_map: {},
      __after_seconds__: 1,
      model: 'small',
      user_id: 'mine',
    };
    expect(configSchema.parse({ configurable: given })).toEqual({ configurable: { model: 'small', user_id: 'mine' } });
    expect(contextSchema.parse(given)).toEqual({ model: 'small', user_id: 'mine' });
  });

  it('are removed from metadata, including that of a config', () => {
    const given = { run_id: 'x', thread_id: 'x', assistant_id: 'x', cron_id: 'x', team: 'support' };
    expect(metadataSchema.parse(given)).toEqual({ team: 'support' });
    expect(configSchema.parse({ metadata: given })).toEqual({ metadata: { team: 'support' } });
  });

  it('leave an empty config alone: null is treated as absent', () => {
    expect(
      configSchema.parse({
        tags: null,
        recursion_limit: null,
        max_concurrency: null,
        configurable: null,
        run_name: 'mine',
      }),
    ).toEqual({
      run_name: 'mine',
    });
  });
});
