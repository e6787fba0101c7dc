import { Pool } from 'pg';
import { Authorizer } from '../../src/auth/custom/authorizer';
import type { CustomAuth } from '../../src/auth/custom/custom-auth';
import { CHECKPOINT_SCHEMA } from '../../src/database/schemas';
import { inScope } from '../../src/database/request-scope';
import type { TenantId } from '../../src/database/tenant-id';
import { ItemStore } from '../../src/item-store/item-store';
import { StoreRepository } from '../../src/item-store/store.repository';
import { StoreService } from '../../src/store/store.service';
import { createTestDatabase, type TestDatabase } from '../support/database';

const TENANT = '00000000-0000-0000-0000-000000000000' as TenantId;
const ADA = { identity: 'ada', display_name: 'ada', is_authenticated: true, permissions: [] };

describe('the store under a filter of the custom auth', () => {
  let database: TestDatabase;
  let pool: Pool;
  let items: ItemStore;
  let service: StoreService;
  let embedded: string[] = [];
  /** The filter of the handler, which is one for every kind of resource. */
  let filter: object;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = new Pool({ connectionString: database.url, max: 4 });
    const source = { kind: 'provider', provider: '', model: '', folder: '' } as const;
    items = new ItemStore(
      new StoreRepository(pool),
      { index: { dims: 2, embed: source, fields: ['text'] }, refreshOnRead: true },
      (_tenant, _kind, texts) => {
        embedded.push(...texts);
        return Promise.resolve(texts.map((text) => [1, text.length]));
      },
    );
    const handlers = { authorize: () => Promise.resolve({ filter, isGeneral: true }) };
    service = new StoreService(items, new Authorizer(handlers as unknown as CustomAuth));
  });

  beforeEach(() => pool.query(`TRUNCATE ${CHECKPOINT_SCHEMA}.store, store_embeddings`));

  afterAll(async () => {
    await pool?.end();
    await database?.drop();
  });

  const asAda = <T>(work: () => T): T => inScope({ tenantId: TENANT, user: ADA }, work);
  const put = (key: string, value: Record<string, string>) =>
    items.put(TENANT, { namespace: ['notes'], key, value, ttl: 60 });
  const search = (query?: string) =>
    asAda(() => service.searchItems(TENANT, { namespace_prefix: ['notes'], limit: 10, offset: 0, query }));

  it('shows no item of another user where the filter has alternatives', async () => {
    filter = { $or: [{ owner: 'ada' }, { public: true }] };
    await put('hers', { owner: 'ada' });
    await put('his', { owner: 'bob' });
    await put('of no user', { text: 'the weather' });
    expect((await search()).map(({ key }) => key).sort()).toEqual(['hers', 'of no user']);
    const get = (key: string) => asAda(() => service.getItem(TENANT, { namespace: ['notes'] }, key));
    expect([await get('his'), await get('hers')]).toMatchObject([null, { key: 'hers' }]);
    await asAda(() => service.deleteItem(TENANT, { namespace: ['notes'], key: 'his' }));
    expect(await items.get(TENANT, ['notes'], 'his')).not.toBeNull();
  });

  it('refreshes the items that it returns, and no others', async () => {
    filter = { owner: 'ada' };
    await put('hers', { owner: 'ada' });
    await put('his', { owner: 'bob' });
    await pool.query(`UPDATE ${CHECKPOINT_SCHEMA}.store SET expires_at = now() + interval '10 minutes'`);
    const refreshed = async (): Promise<string[]> => {
      const { rows } = await pool.query<{ key: string }>(
        `SELECT key FROM ${CHECKPOINT_SCHEMA}.store WHERE expires_at > now() + interval '30 minutes'`,
      );
      return rows.map(({ key }) => key);
    };
    await asAda(() => service.getItem(TENANT, { namespace: ['notes'] }, 'his'));
    expect(await refreshed()).toEqual([]);
    await search();
    expect(await refreshed()).toEqual(['hers']);
  });

  it('embeds the query of a search once, however many pages it reads', async () => {
    filter = { owner: 'ada' };
    for (let index = 0; index < 450; index += 1) await put(`his ${index}`, { owner: 'bob' });
    await put('hers', { owner: 'ada' });
    embedded = [];
    expect((await search('the weather')).map(({ key }) => key)).toEqual(['hers']);
    expect(embedded).toEqual(['the weather']);
  });
});
