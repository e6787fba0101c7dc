interface Request<Query, Answer> {
  query: Query;
  resolve: (answer: Answer | Promise<Answer>) => void;
  reject: (error: unknown) => void;
}

/** Makes one call at a time: requests of the same moment share a call, and requests during a call share the next one. */
export class BatchedCalls<Query, Answer> {
  private requests: Request<Query, Answer>[] = [];
  private isCalling = false;

  /** @param callMany answers in the order of the queries; a promise among the answers fails for its own caller alone */
  constructor(private readonly callMany: (queries: Query[]) => Promise<(Answer | Promise<Answer>)[]>) {}

  call(query: Query): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.requests.push({ query, resolve, reject });
      if (this.isCalling) return;
      this.isCalling = true;
      // After the continuations that are queued already: one notification wakes many readers, and each of them asks.
      process.nextTick(() => void this.callAll());
    });
  }

  private async callAll(): Promise<void> {
    while (this.requests.length > 0) {
      const requests = this.requests;
      this.requests = [];
      try {
        const answers = await this.callMany(requests.map(({ query }) => query));
        requests.forEach((request, index) => request.resolve(answers[index]));
      } catch (error) {
        for (const request of requests) request.reject(error);
      }
    }
    this.isCalling = false;
  }
}
