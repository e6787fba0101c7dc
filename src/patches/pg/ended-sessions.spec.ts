import { Client } from 'pg';
import { expectLibrary } from '../../../test/support/library-guard';
import { noticeEndOfSession } from './ended-sessions';

describe('noticeEndOfSession', () => {
  it('has a client refuse statements after a message of severity FATAL or an error that is named, and not after others', async () => {
    const client = new Client();
    client.on('error', () => undefined);
    noticeEndOfSession(client, new Set(['25006']));
    const refused = (): boolean =>
      Object.entries(client).some(([key, value]) => key === '_queryable' && value === false);
    expectLibrary(
      '_queryable' in client,
      'A client has no `_queryable`: one whose session has ended is lent once more.',
    );
    client.connection.emit('errorMessage', { severity: 'ERROR', code: '42601' });
    expect(refused()).toBe(false);
    client.connection.emit('errorMessage', { severity: 'FATAL' });
    expect(refused()).toBe(true);
    await expect(client.query('SELECT 1')).rejects.toThrow('not queryable');
    const other = new Client();
    noticeEndOfSession(other, new Set(['25006']));
    other.connection.emit('errorMessage', { severity: 'ERROR', code: '25006' });
    await expect(other.query('SELECT 1')).rejects.toThrow('not queryable');
  });
});
