import { AsyncLocalStorage } from 'node:async_hooks';
import { UploadGate } from './upload-gate';

const never = (): Promise<never> => new Promise(() => undefined);

describe('UploadGate', () => {
  it('admits a limited number at once, each in the scope of its own request', async () => {
    const gate = new UploadGate(2);
    const scope = new AsyncLocalStorage<number>();
    let running = 0;
    let most = 0;
    const seen = await Promise.all(
      Array.from({ length: 10 }, (_, request) =>
        scope.run(request, () =>
          gate.run(async () => {
            most = Math.max(most, ++running);
            await new Promise((resolve) => setTimeout(resolve, 2));
            running -= 1;
            return scope.getStore();
          }),
        ),
      ),
    );
    expect(most).toBe(2);
    expect(seen).toEqual(Array.from({ length: 10 }, (_, request) => request));
  });

  it('passes a failure on, and admits the next', async () => {
    const gate = new UploadGate(1);
    const failing = gate.run(() => Promise.reject(new Error('no')));
    const next = gate.run(() => Promise.resolve('yes'));
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  describe('while the database hangs', () => {
    beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] }));
    afterEach(() => jest.useRealTimers());

    it('answers 503 before clients give up, and starts no further upload', async () => {
      const gate = new UploadGate(1);
      let finish!: () => void;
      const hanging = gate.run(() => new Promise<void>((resolve) => (finish = resolve)));
      const begun = jest.fn(never);
      const waiting = gate.run(begun).catch((error: unknown) => error);
      await jest.advanceTimersByTimeAsync(9_000);
      expect(await waiting).toMatchObject({ status: 503, code: 'trace_store_busy' });
      finish();
      await hanging;
      await jest.advanceTimersByTimeAsync(0);
      expect(begun).not.toHaveBeenCalled();
    });

    it('answers 503 at once when too many are waiting', async () => {
      const gate = new UploadGate(1);
      void gate.run(never);
      const waiting = Array.from({ length: 200 }, () => gate.run(never).catch((error: unknown) => error));
      await expect(gate.run(never)).rejects.toMatchObject({ status: 503 });
      await jest.advanceTimersByTimeAsync(9_000);
      expect(await Promise.all(waiting)).toHaveLength(200);
    });
  });
});
