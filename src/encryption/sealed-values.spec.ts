import { BYTES_MARK, CONTEXT_MARK, type SealOperation } from '../database/at-rest';
import { EncryptionRefused, type HandlerCall, openValues, PLAIN_MARK, sealValues } from './sealed-values';

const json = (model: string, field: string, value: unknown): SealOperation => ({ form: 'json', model, field, value });

/** Handlers that mark each value, and take the mark away. */
function handlers() {
  const calls: HandlerCall[] = [];
  const call = async (given: HandlerCall[]): Promise<unknown[]> => {
    calls.push(...given);
    return given.map(({ kind, data }) => {
      if (kind.endsWith('blob')) return Buffer.from(String(data), 'base64').reverse().toString('base64');
      const entries = Object.entries(data as object).map(([key, value]) => [
        key,
        kind === 'encrypt-json' ? { sealed: value as unknown } : (value as { sealed: unknown }).sealed,
      ]);
      return Object.fromEntries(entries) as unknown;
    });
  };
  return { calls, call };
}

describe('sealed values', () => {
  it.each([
    ['an object', 'thread', 'metadata', { a: 1, b: { c: [2] } }],
    ['a list', 'run', 'input', [1, { a: 2 }]],
    ['a text', 'run', 'input', 'hello'],
    ['nothing', 'run', 'input', null],
    ['an empty object', 'thread', 'interrupts', {}],
    [
      'arguments of a run',
      'run',
      'kwargs',
      { input: 'x', config: { tags: ['t'], configurable: { a: 1 } }, durability: 'sync' },
    ],
    [
      'a step of a graph',
      'checkpoint',
      'metadata',
      { step: 1, source: 'loop', parents: {}, run_attempt: 1, run_id: 'r', created_by: 'system' },
    ],
    [
      'keys with the names of what objects inherit',
      'store',
      'value',
      { constructor: 'Ferrari', toString: 1, driver: 'x' },
    ],
    ['limits beside tags', 'run', 'kwargs', { config: { tags: ['t'], recursion_limit: 5, max_concurrency: null } }],
  ])('%s is decrypted to what it was', async (_, model, field, value) => {
    const { call } = handlers();
    const [sealed] = await sealValues([json(model, field, value)], { key: 'k' }, call);
    expect(await openValues([JSON.parse(JSON.stringify(sealed)) as unknown], call)).toEqual([value]);
  });

  it('leave ids and arguments that SQL reads in plain text, and encrypt the caller’s data at each level', async () => {
    const { call, calls } = handlers();
    const kwargs = {
      input: { q: 1 },
      config: { recursion_limit: 5, configurable: { thread_id: 't', a: 1 } },
      temporary: true,
    };
    const [sealed] = await sealValues([json('run', 'kwargs', kwargs)], { key: 'k' }, call);
    expect(sealed).toEqual({
      temporary: true,
      input: { q: { sealed: 1 }, [CONTEXT_MARK]: { key: 'k' } },
      config: { recursion_limit: 5, configurable: { thread_id: 't', a: { sealed: 1 }, [CONTEXT_MARK]: { key: 'k' } } },
    });
    expect(calls.map(({ model, field }) => `${model}.${field}`)).toEqual(['run.input', 'run.configurable']);
  });

  it('of earlier releases are decrypted with all that is beside them', async () => {
    const { call, calls } = handlers();
    const value = { step: 1, created_by: 'system' };
    const [sealed] = await sealValues([json('checkpoint', 'metadata', value)], {}, call);
    const { [PLAIN_MARK]: _, ...earlier } = sealed as Record<string, unknown>;
    await openValues([earlier], call);
    expect(Object.keys(calls.at(-1)!.data as object)).toEqual(['step', 'created_by']);
  });

  it('are decrypted with the context that they were encrypted with, and merged as SQL merges them', async () => {
    const { call, calls } = handlers();
    const [first] = await sealValues([json('thread', 'metadata', { a: 1, b: 1 })], { key: 'old' }, call);
    const [second] = await sealValues([{ ...json('thread', 'metadata', { b: 2 }), context: { key: 'own' } }], {}, call);
    const merged = { ...(first as object), ...(second as object), run_id: 'r' };
    expect(await openValues([merged], call)).toEqual([{ a: 1, b: 2, run_id: 'r' }]);
    expect(calls.at(-1)!.context).toEqual({ key: 'own' });
  });

  it('are bytes with the context as a prefix', async () => {
    const { call, calls } = handlers();
    const value = Buffer.from('state').toString('base64');
    const [sealed] = await sealValues(
      [{ form: 'bytes', model: 'checkpoint', field: 'values', value }],
      { key: 'k' },
      call,
    );
    const stored = Buffer.from(String(sealed), 'base64');
    expect(stored.subarray(0, BYTES_MARK.length).equals(BYTES_MARK)).toBe(true);
    expect(stored.toString('latin1')).not.toContain('state');
    expect(await openValues([sealed], call)).toEqual([value]);
    expect(calls.at(-1)).toMatchObject({ model: 'checkpoint', field: 'values', context: { key: 'k' } });
  });

  it('are refused when a handler changes the keys, and when a caller’s data contains the mark', async () => {
    const changing = async (): Promise<unknown[]> => [{ all: 'x' }];
    await expect(sealValues([json('thread', 'metadata', { a: 1 })], {}, changing)).rejects.toThrow(EncryptionRefused);
    const { call } = handlers();
    const marked = json('thread', 'metadata', { a: { [CONTEXT_MARK]: {} } });
    await expect(sealValues([marked], {}, call)).rejects.toThrow(`the key ${CONTEXT_MARK} is reserved`);
    await expect(openValues([Buffer.concat([BYTES_MARK, Buffer.from('x')]).toString('base64')], call)).rejects.toThrow(
      EncryptionRefused,
    );
  });
});
