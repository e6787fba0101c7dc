import { PostgresSaver } from '@langchain/langgraph-checkpoint-postgres';
import type { Pool } from 'pg';
import { prepared } from '../../database/prepared-statements';
import { CHECKPOINT_SCHEMA } from '../../database/schemas';

/**
 * LangGraph's Postgres saver with versions of channels that no two branches of a thread share. The library counts 1, 2, 3,
 * and stores values by (thread, channel, version), the first one for good: a branch that forks from an earlier checkpoint
 * counts the same numbers again and would read the values of the branch before it.
 * @see https://github.com/langchain-ai/langgraphjs/issues/1812 until it is closed
 */
export class ForkSafeSaver extends PostgresSaver {
  /** What one step was given: its channels keep one version, by which the library tells nodes of one step apart from later ones. */
  private readonly given = new Map<number, number>();

  constructor(connections: Pool) {
    super(connections, undefined, { schema: CHECKPOINT_SCHEMA });
    // The library's own read of every run: were it worded otherwise one day, it would only not be prepared.
    const { SELECT_SQL } = (this as unknown as { SQL_STATEMENTS: { SELECT_SQL: string } }).SQL_STATEMENTS;
    const newest = 'WHERE thread_id = $1 AND checkpoint_ns = $2 ORDER BY checkpoint_id DESC LIMIT 1';
    prepared('newest-checkpoint', SELECT_SQL + newest);
  }

  /** The count goes on in the whole part, the rest is drawn. Without `this`, as the library calls it for edits, all are drawn. */
  override getNextVersion(this: ForkSafeSaver | undefined, current: number | undefined): number {
    const count = Math.floor(current ?? 0) + 1;
    const next = this?.given.get(current ?? 0) ?? count + Math.random();
    this?.given.set(current ?? 0, next);
    return next;
  }
}
