/** How long a store is waited for. */
export interface PatienceSettings {
  /** Number of times that a request is sent, until an attempt succeeds. */
  maxAttempts: number;
  /** Milliseconds until a connection stands. */
  connectionTimeout: number;
  /** Milliseconds until an answer begins. */
  answerTimeout: number;
  /** Milliseconds between two pieces of an answer, `answerTimeout` where absent; 0 for as long as its reader takes. */
  pieceTimeout?: number;
}

/** A request of the API needs an answer soon, an export's work can wait. */
export const Patience: Record<'question' | 'work', PatienceSettings> = {
  question: { maxAttempts: 2, connectionTimeout: 5_000, answerTimeout: 15_000 },
  work: { maxAttempts: 4, connectionTimeout: 10_000, answerTimeout: 120_000 },
};
