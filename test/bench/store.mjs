// The store as clients use it: items of about a kilobyte, a megabyte now and then, searches among thousands.
import { Client } from '@langchain/langgraph-sdk';
import { load, ms } from './measure.mjs';

const TEXT = 'She likes tea without sugar. '.repeat(35);

/**
 * @param {string} api
 * @param {number} scale 1 for the full table, less for a quick look
 * @returns {AsyncGenerator<[string, string]>}
 */
export async function* benchStore(api, scale) {
  const times = (/** @type {number} */ count) => Math.max(5, Math.round(count * scale));
  const { store } = new Client({ apiUrl: api });
  const items = times(10_000);
  const namespaceOf = (/** @type {number} */ index) => ['bench', `user-${index % 100}`];

  const puts = await load(items, 16, (index) =>
    store.putItem(namespaceOf(index), `item-${index}`, { text: TEXT, rank: index }),
  );
  yield ['items of 1 KB put at 16', `${puts.perSecond.toFixed(0)}/s (p50 ${ms(puts.p50)}, p99 ${ms(puts.p99)})`];
  const gets = await load(times(2_000), 16, (index) => store.getItem(namespaceOf(index), `item-${index}`));
  yield ['items read at 16', `${gets.perSecond.toFixed(0)}/s (p50 ${ms(gets.p50)}, p99 ${ms(gets.p99)})`];
  const one = await load(times(500), 1, (index) => store.getItem(namespaceOf(index), `item-${index}`));
  yield ['items read, one at a time', `p50 ${ms(one.p50)}, p99 ${ms(one.p99)}`];

  const near = await load(times(500), 16, (index) => store.searchItems(namespaceOf(index), { limit: 10 }));
  yield [`searches of one namespace in 100 at 16`, `${near.perSecond.toFixed(0)}/s (p50 ${ms(near.p50)})`];
  const filter = { rank: { $gte: Math.floor(items / 2) } };
  const all = await load(times(100), 4, () => store.searchItems(['bench'], { limit: 10, filter }));
  yield [
    `searches of ${items.toLocaleString('en')} items by a filter at 4`,
    `${all.perSecond.toFixed(0)}/s (p50 ${ms(all.p50)})`,
  ];

  const megabyte = { text: 'x'.repeat(1024 * 1024) };
  const large = await load(times(50), 1, async (index) => {
    await store.putItem(['large'], `item-${index}`, megabyte);
    await store.getItem(['large'], `item-${index}`);
  });
  yield ['items of 1 MB put and read', `p50 ${ms(large.p50)}, p99 ${ms(large.p99)}`];
}
