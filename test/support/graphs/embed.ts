const WORDS = ['tea', 'coffee', 'rain'];

/** Far from any model: how often a few words are in the text. */
export function embed(texts: string[]): number[][] {
  return texts.map((text) => [...WORDS.map((word) => text.split(word).length - 1), 0.1]);
}
