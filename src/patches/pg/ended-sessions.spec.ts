import { Client } from 'pg';
import { expectLibrary } from '../../../test/support/library-guard';
import { noticeEndOfSession } from './ended-sessions';

describe('noticeEndOfSession', () => {
  it('has a client refuse statements after a message of severity FATAL, and not after an error of a statement', async () => {
    const client = new Client();
    client.on('error', () => undefined);
    noticeEndOfSession(client);
    const refused = (): boolean =>
      Object.entries(client).some(([key, value]) => key === '_queryable' && value === false);
    expectLibrary(
      '_queryable' in client,
      'A client has no `_queryable`: one whose session has ended is lent once more.',
    );
    client.connection.emit('errorMessage', { severity: 'ERROR' });
    expect(refused()).toBe(false);
    client.connection.emit('errorMessage', { severity: 'FATAL' });
    expect(refused()).toBe(true);
    await expect(client.query('SELECT 1')).rejects.toThrow('not queryable');
  });
});
