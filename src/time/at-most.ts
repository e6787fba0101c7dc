/** Stands for work that has not ended in time. */
export const LATE = Symbol('late');

/** Resolves to the result of `work`, or to `LATE` after so many milliseconds; the work itself continues. */
export async function atMost<T>(ms: number, work: Promise<T>): Promise<T | typeof LATE> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<typeof LATE>((resolve) => {
    timer = setTimeout(resolve, ms, LATE);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
