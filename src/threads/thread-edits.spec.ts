import type { EntityManager } from 'typeorm';
import { ThreadEdits, type ThreadState } from './thread-edits';

const THREAD = { tenantId: 'a', threadId: 'one' };
const STATE: ThreadState = { values: {}, next: [], interrupts: {} };
/** More than an edit waits for those before it. */
const LONG_MS = 60_000;

describe('edits of a state', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('wait for those before them on the same thread without a connection, and not for ever', async () => {
    const manager = { query: () => Promise.resolve([{ status: 'idle' }]) };
    const transaction = jest.fn((work: (within: typeof manager) => Promise<unknown>) => work(manager));
    const edits = new ThreadEdits({ transaction } as unknown as EntityManager);
    const write = (): Promise<ThreadState> => Promise.resolve(STATE);
    let finish: (state: ThreadState) => void = () => undefined;
    const first = edits.edit(THREAD, () => new Promise<ThreadState>((resolve) => (finish = resolve)));
    const late = expect(edits.edit(THREAD, write)).rejects.toMatchObject({ status: 409, code: 'thread_being_edited' });
    expect(await edits.edit({ ...THREAD, threadId: 'other' }, write)).toBe(STATE);
    await jest.advanceTimersByTimeAsync(LONG_MS);
    await late;
    expect(transaction).toHaveBeenCalledTimes(2);

    const next = edits.edit(THREAD, write);
    finish(STATE);
    expect([await first, await next]).toEqual([STATE, STATE]);
    expect(transaction).toHaveBeenCalledTimes(3);
  });
});
