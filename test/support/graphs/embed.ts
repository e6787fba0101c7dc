const WORDS = ['tea', 'coffee', 'rain'];

/** An embedding without a model: counts of a few words in the text. */
export function embed(texts: string[]): number[][] {
  return texts.map((text) => [...WORDS.map((word) => text.split(word).length - 1), 0.1]);
}
