import { startBeats } from './export-beats';

describe('heartbeats', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  it('wait for the one before, whether it succeeds or fails', async () => {
    const waiting: { resolve: () => void; reject: (error: Error) => void }[] = [];
    const timer = startBeats(() => new Promise((resolve, reject) => waiting.push({ resolve, reject })));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(waiting).toHaveLength(1);
    waiting[0].reject(new Error('the row is locked'));
    await jest.advanceTimersByTimeAsync(60_000);
    expect(waiting).toHaveLength(2);
    waiting[1].resolve();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(waiting).toHaveLength(3);
    clearInterval(timer);
  });
});
