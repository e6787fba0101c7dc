import { isDeepStrictEqual } from 'node:util';

/** Repeats `ask` until it has a result or the deadline has passed, which is before the test's own timeout. */
export async function waitFor<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 90_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (Date.now() > deadline) throw new Error(`Waited ${timeoutMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Asserts what `read` resolves to, once it is as expected or after the time: a failure shows what there was instead. */
export async function expectSoon<T>(read: () => Promise<T>, expected: T, timeoutMs = 60_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let value = await read();
  while (!isDeepStrictEqual(value, expected) && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    value = await read();
  }
  expect(value).toEqual(expected);
}
