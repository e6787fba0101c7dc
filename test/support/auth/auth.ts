import { Auth, HTTPException, isStudioUser } from '@langchain/langgraph-sdk/auth';

interface Owned {
  metadata?: Record<string, unknown> | null;
}

/** Users who find what their team shares, and read the threads that they own. */
const TEAM = ['carol', 'dave'];

/** How the ids of threads begin whose runs stay as they are. */
const LOCKED = '00000000';

let visits = 0;

/**
 * The auth of the hosted platform's guide: who has a token is its user, and owns what he makes. `Bearer alice` is alice.
 * Some names misbehave, for the tests.
 */
export const auth = new Auth()
  .authenticate((request: Request) => {
    const [, name] = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '') ?? [];
    if (!name) throw new HTTPException(401, { message: 'No token', headers: { 'www-authenticate': 'Bearer' } });
    if (name === 'banned') throw new HTTPException(403, { message: 'Banned' });
    if (name === 'busy') throw new HTTPException(503, { message: 'Busy', headers: { 'retry-after': '7' } });
    if (name === 'upstream') throw Object.assign(new Error('a secret of the module'), { status: 503, headers: {} });
    if (name === 'crash') throw new Error('a secret of the module');
    if (name === 'nobody') return null as never;
    if (name === 'hang') for (;;);
    const [, path] = /^only (.+)$/.exec(name) ?? [];
    if (path && new URL(request.url).pathname !== path) throw new HTTPException(403, { message: 'Not here' });
    visits += 1;
    return { identity: name, visits, permissions: name === 'reader' ? ['read'] : ['read', 'write'], team: 'blue' };
  })
  .on('*', ({ value, user }) => {
    if (isStudioUser(user)) return true;
    const owned = value as Owned;
    owned.metadata ??= {};
    owned.metadata.owner = user.identity;
    return { owner: user.identity };
  })
  .on(['assistants:read', 'assistants:search'], ({ user }) => {
    if (isStudioUser(user)) return true;
    const owner = { owner: user.identity };
    // The SDK's types lack `$or`.
    const alternatives = [owner, { created_by: 'system' }, { team: 'blue' }];
    return TEAM.includes(user.identity) ? ({ $or: alternatives } as never) : owner;
  })
  .on('threads:search', ({ value, user }) => {
    value.metadata = { ...value.metadata, owner: user.identity };
    // For one user the search alone is narrowed, without a filter.
    return user.identity === 'bob' ? undefined : { owner: user.identity };
  })
  .on('threads:create', ({ value, user, permissions }) => {
    if (!permissions.includes('write')) return false;
    const counted = user.identity === 'counted' ? { visits: (user as unknown as { visits: number }).visits } : {};
    value.metadata = { ...value.metadata, ...counted, owner: user.identity, readers: [user.identity, 'auditor'] };
    return { owner: user.identity };
  })
  .on('threads:update', ({ value, user }) => {
    if (isStudioUser(user)) return true;
    // For one user it reads the id as if every question had one.
    if (user.identity === 'alice' && value.thread_id!.startsWith(LOCKED)) return false;
    value.metadata = { ...value.metadata, owner: user.identity };
    return { owner: user.identity };
  })
  .on('threads:read', ({ user: { identity } }): Record<string, string | { $contains: string }> =>
    TEAM.includes(identity) ? { owner: identity } : { readers: { $contains: identity } },
  )
  .on('store', ({ value, user }) => {
    value.namespace = [user.identity, ...(value.namespace ?? [])];
  })
  .on('store:delete', ({ value, user }) => {
    value.namespace = [user.identity, ...(value.namespace ?? [])];
    return { locked: 'no' };
  });
