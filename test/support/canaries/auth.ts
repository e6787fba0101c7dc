import { Auth } from '@langchain/langgraph-sdk/auth';

/** One user, of whom everything is a secret of the graph's. */
export const auth = new Auth()
  .authenticate(() => ({
    identity: 'canary-identity',
    display_name: 'canary-name',
    permissions: ['canary-permission'],
    token: 'canary-attribute',
    account: { iban: 'canary-nested' },
  }))
  .on('*', () => true);
