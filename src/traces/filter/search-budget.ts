import { FilterError } from './filter-error';

/** Limit of the words, each of which is searched in every payload of every selected run. */
const MAX_WORDS = 50;
/** Limit of the characters of all words: each is compared with a payload at each of its characters. */
const MAX_CHARACTERS = 2_000;

/** Counts the search words of one query, and refuses queries that would keep the database busy for minutes. */
export class SearchBudget {
  private words = 0;
  private characters = 0;

  /** @throws {FilterError} */
  search(text: string, position: number): void {
    this.take(text.split(/\s+/), position);
  }

  /** Counts the pieces between the wildcards of a pattern, which are searched in sequence. @throws {FilterError} */
  like(pattern: string, position: number): void {
    this.take(pattern.split(/[%_]+/), position);
  }

  private take(pieces: string[], position: number): void {
    for (const piece of pieces) {
      if (piece === '') continue;
      this.words += 1;
      this.characters += piece.length;
    }
    if (this.words > MAX_WORDS) throw new FilterError(`a query looks for at most ${MAX_WORDS} words`, position);
    if (this.characters > MAX_CHARACTERS) {
      throw new FilterError(`the words of a query have at most ${MAX_CHARACTERS} characters together`, position);
    }
  }
}
