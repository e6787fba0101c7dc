import { currentCipher } from './at-rest';
import { BatchedCalls } from './batched-calls';
import { acrossTenants, currentScope, inScope, type RequestScope } from './request-scope';
import { isRefusedRow } from './sql-errors';
import { isContentError } from './unstorable-text';

interface Insert<Row> {
  row: Row;
  /** Scope of the request. */
  scope: RequestScope | undefined;
}

/** Inserts the rows of requests that arrive together in one statement, for each tenant and actor. */
export class BatchedInserts<Row extends { tenantId: string }, Inserted> {
  private readonly calls: BatchedCalls<Insert<Row>, Inserted>;

  /** @param insertAll inserts rows of one tenant in one statement, and answers in their order */
  constructor(private readonly insertAll: (rows: [Row, ...Row[]]) => Promise<Inserted[]>) {
    this.calls = new BatchedCalls((inserts) => this.insertGroups(inserts));
  }

  /** Inserts a row for the current request. A row that can't be stored fails alone. */
  async insert(row: Row): Promise<Inserted> {
    if (!currentCipher()) return this.calls.call({ row, scope: currentScope() });
    // The handlers of a custom encryption choose the key by the request.
    const [inserted] = await this.insertAll([row]);
    return inserted;
  }

  private async insertGroups(inserts: Insert<Row>[]): Promise<Promise<Inserted>[]> {
    const answers = new Map<Insert<Row>, Promise<Inserted>>();
    for (const group of Map.groupBy(inserts, connectionOf).values()) {
      const inserted = this.insertGroup(group);
      for (const [index, insert] of group.entries())
        answers.set(
          insert,
          inserted.then((each) => each[index]),
        );
    }
    await Promise.allSettled(answers.values());
    return inserts.map((insert) => answers.get(insert)!);
  }

  /** Answers in the order of the group; where a row is refused, each is inserted alone, so that only its own request fails. */
  private async insertGroup(group: Insert<Row>[]): Promise<(Inserted | Promise<Inserted>)[]> {
    try {
      return await this.insertTogether(group);
    } catch (error) {
      if (group.length === 1 || !(isContentError(error) || isRefusedRow(error))) throw error;
    }
    const alone = group.map(async (insert) => (await this.insertTogether([insert]))[0]);
    await Promise.allSettled(alone);
    return alone;
  }

  private insertTogether(group: Insert<Row>[]): Promise<Inserted[]> {
    const [{ scope }] = group;
    const insert = (): Promise<Inserted[]> => this.insertAll(group.map(({ row }) => row) as [Row, ...Row[]]);
    return scope ? inScope(scope, insert) : acrossTenants(insert);
  }
}

/** Names the settings of the connection for a request: those with the same settings may share a statement. */
function connectionOf({ row, scope }: Insert<{ tenantId: string }>): string {
  return JSON.stringify([row.tenantId, scope && [scope.tenantId, scope.isAcrossTenants, scope.actor]]);
}
