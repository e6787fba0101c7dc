/**
 * Fails a guard test of `src/patches` with a sentence about the library.
 * @param holds whether the library still is as the patch takes it to be
 * @param sentence what has changed, and what to do about the patch
 */
export function expectLibrary(holds: boolean, sentence: string): void {
  if (!holds) throw new Error(sentence);
}
