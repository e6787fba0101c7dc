import { IdleProcessors } from './idle-processors';

describe('idle processors', () => {
  const times = { user: 100, nice: 0, sys: 50, idle: 1_000, irq: 0 };

  it('are measured since the last call, over all of them', () => {
    let now = [times, times];
    const processors = new IdleProcessors(() => now.map((each) => ({ times: each })));
    now = [
      { ...times, user: 110, idle: 1_030 },
      { ...times, sys: 60, idle: 1_030 },
    ];
    expect(processors.shareSinceLast()).toBe(0.75);
    now = now.map((each) => ({ ...each, user: each.user + 50 }));
    expect(processors.shareSinceLast()).toBe(0);
    expect(processors.shareSinceLast()).toBe(0);
  });

  it('are those of this machine', async () => {
    const processors = new IdleProcessors();
    const until = performance.now() + 200;
    while (performance.now() < until);
    const share = processors.shareSinceLast();
    expect(share).toBeGreaterThanOrEqual(0);
    expect(share).toBeLessThan(1);
  });
});
