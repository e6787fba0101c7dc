import { Auth } from '@langchain/langgraph-sdk/auth';
import type { AuthUser } from '../../database/request-scope';
import { AuthModuleHandlers } from './auth-module';

const user: AuthUser = { identity: 'guest', permissions: [], display_name: 'guest', is_authenticated: true };

describe('a filter that a handler of the custom auth returns', () => {
  const answerOf = (filter: unknown) => {
    const auth = new Auth().authenticate(() => 'guest').on('threads', () => filter as never);
    return new AuthModuleHandlers(auth).authorize({ resource: 'threads', action: 'read', value: {}, user });
  };

  it.each([
    ['a value', { owner: undefined }, 'owner'],
    ['one of its values', { owner: 'guest', org_id: undefined }, 'org_id'],
    ['a value in an alternative', { $or: [{ owner: 'guest' }, { org_id: undefined }] }, 'org_id'],
    ['a value of an operator', { org_id: { $eq: undefined } }, '$eq'],
    ['an element of a list', { tags: { $contains: ['a', undefined] } }, '1'],
    ['a value that JSON has', { owner: () => 'guest' }, 'owner'],
  ])('is refused without %s, since JSON would lose the condition', async (_, filter, key) => {
    await expect(answerOf(filter)).rejects.toThrow(`the auth filter has no value for ${key}`);
  });

  it('is passed on with values that are null', async () => {
    expect(await answerOf({ owner: 'guest', org_id: null })).toEqual({
      filter: { owner: 'guest', org_id: null },
      value: {},
    });
  });
});
