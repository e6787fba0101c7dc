interface Request<Query, Answer> {
  query: Query;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** Runs one read at a time: requests during a read share the next one. */
export class BatchedReads<Query, Answer> {
  private requests: Request<Query, Answer>[] = [];
  private reading = false;

  /** @param readMany answers in the order of the queries */
  constructor(private readonly readMany: (queries: Query[]) => Promise<Answer[]>) {}

  read(query: Query): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.requests.push({ query, resolve, reject });
      if (!this.reading) void this.readAll();
    });
  }

  private async readAll(): Promise<void> {
    this.reading = true;
    while (this.requests.length > 0) {
      const requests = this.requests;
      this.requests = [];
      try {
        const answers = await this.readMany(requests.map(({ query }) => query));
        requests.forEach((request, index) => request.resolve(answers[index]));
      } catch (error) {
        for (const request of requests) request.reject(error);
      }
    }
    this.reading = false;
  }
}
