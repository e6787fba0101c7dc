import { Client, type PoolClient } from 'pg';
import { expectLibrary } from '../../../test/support/library-guard';
import { activeStatementOf, cutConnection, serverProcessOf } from './connection';

describe('a connection of pg', () => {
  it('has the id of its server process, its active statement, and a socket that can be closed', () => {
    const client = new Client() as Client & PoolClient;
    expectLibrary(
      'processID' in client,
      'A client has no `processID`: statements of requests that have gone are not cancelled.',
    );
    expect(serverProcessOf(client)).toBeNull();
    expectLibrary('_activeQuery' in client, 'A client has no `_activeQuery`: lost answers are waited for.');
    expect(activeStatementOf(client)).toBeNull();
    cutConnection(client);
    expectLibrary(
      client.connection.stream.destroyed,
      '`client.connection.stream` is not the socket of the connection.',
    );
  });
});
