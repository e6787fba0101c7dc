import { Client } from 'pg';
import { prepared, PreparingClient } from './prepared-statements';

describe('PreparingClient', () => {
  const LOOK = prepared('look', 'SELECT $1::int AS seen');
  let send: jest.SpyInstance;
  let client: PreparingClient;

  beforeEach(() => {
    send = jest.spyOn(Client.prototype, 'query').mockImplementation(() => undefined);
    client = new PreparingClient();
  });

  afterEach(() => send.mockRestore());

  it('sends a declared statement by its name', () => {
    void client.query(LOOK, [1]);
    expect(send).toHaveBeenCalledWith({ name: 'look', text: LOOK }, [1]);
  });

  it('sends everything else as it is', () => {
    const config = { text: LOOK, values: [1] };
    void client.query('SELECT $1::text', ['a']);
    void client.query(LOOK);
    void client.query(config);
    expect(send.mock.calls).toEqual([
      ['SELECT $1::text', ['a']],
      [LOOK, undefined],
      [config, undefined],
    ]);
  });
});
