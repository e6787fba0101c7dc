import { Auth } from '@langchain/langgraph-sdk/auth';

/** One user, whose every field is a secret for the graph. */
export const auth = new Auth()
  .authenticate(() => ({
    identity: 'canary-identity',
    display_name: 'canary-name',
    permissions: ['canary-permission'],
    token: 'canary-attribute',
    account: { iban: 'canary-nested' },
  }))
  .on('*', () => true);
