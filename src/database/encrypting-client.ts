import type { Client, ClientConfig, QueryResult } from 'pg';
import { noticeEndOfSession } from '../patches/pg/ended-sessions';
import { PreparingClient } from '../patches/pg/prepared-statements';
import { type Cipher, currentCipher, openRows, sealParameters, StoredParameter } from './at-rest';
import { READ_ONLY_SERVER } from './lost-connections';

/** A server that lost its role in a failover keeps its sessions: only another connection leads to the new one. */
const READ_ONLY = new Set([READ_ONLY_SERVER]);

/**
 * A connection that encrypts what is marked for it among the parameters of a statement, and decrypts what it reads: wherever a
 * value is read, whatever statement copied it there, it is found by its mark. Without encryption it is a connection like any other.
 */
export class EncryptingClient extends PreparingClient {
  constructor(config?: string | ClientConfig) {
    super(config);
    // A connection that breaks is reported by its statement or its pool. Without a listener it would end the process while it is lent.
    this.on('error', () => undefined);
    noticeEndOfSession(this, READ_ONLY);
    const send = this.query.bind(this) as (...given: unknown[]) => unknown;
    this.query = ((...given: unknown[]) => {
      const cipher = currentCipher();
      if (!cipher || !isAwaited(given)) return send(...given);
      const values = parametersOf(given);
      const sent = values?.some((value) => value instanceof StoredParameter)
        ? sealParameters(cipher, values).then((sealed) => send(...withParameters(given, sealed)))
        : send(...given);
      return (sent as Promise<QueryResult | QueryResult[]>).then((result) => opened(cipher, result));
    }) as Client['query'];
  }
}

/** Whether a call's result is a promise: of cursors and callbacks there is none. */
function isAwaited(given: unknown[]): boolean {
  const [query] = given;
  if (given.some((each) => typeof each === 'function')) return false;
  return typeof query === 'string' || (typeof query === 'object' && query !== null && !('submit' in query));
}

function parametersOf([query, values]: unknown[]): unknown[] | undefined {
  const given = Array.isArray(values) ? values : (query as { values?: unknown }).values;
  return Array.isArray(given) ? given : undefined;
}

function withParameters([query, ...rest]: unknown[], values: unknown[]): unknown[] {
  return typeof query === 'string' || Array.isArray(rest[0]) ? [query, values] : [{ ...(query as object), values }];
}

async function opened(cipher: Cipher, result: QueryResult | QueryResult[]): Promise<QueryResult | QueryResult[]> {
  for (const { rows } of Array.isArray(result) ? result : [result]) {
    await openRows(cipher, rows as Record<string, unknown>[]);
  }
  return result;
}
