import type { EntityManager } from 'typeorm';
import { type GraphLanguage, LANGUAGE_NAMES } from '../config/graph-language';
import { checkpointKey } from '../database/checkpoint-key';
import { inFlightSql } from '../database/run-status';
import { CHECKPOINT_SCHEMA } from '../database/schemas';
import type { GraphRegistry } from '../graphs/graph-registry';
import { prepared } from '../patches/pg/prepared-statements';
import { threadErrors } from './thread.errors';
import type { ThreadKey } from './thread-key';

/** The libraries version channels in different ways; a thread without checkpoints gets the language of its first run. */
const SELECT_LANGUAGE = prepared(
  'select-thread-language',
  `SELECT (
     SELECT (SELECT jsonb_typeof(value) FROM jsonb_each(checkpoint -> 'channel_versions') LIMIT 1)
     FROM ${CHECKPOINT_SCHEMA}.checkpoints WHERE thread_id = $1 AND checkpoint_ns = ''
     ORDER BY checkpoint_id DESC LIMIT 1
   ) AS versions,
   ARRAY(
     SELECT DISTINCT graph_id FROM runs WHERE tenant_id = $2 AND thread_id = $3 AND ${inFlightSql()}
   ) AS "graphIds"`,
);

const LANGUAGE_OF_VERSIONS: Record<string, GraphLanguage> = { number: 'javascript', string: 'python' };

/**
 * Checks that a graph can read the state that the thread has, or will have after its runs in flight. Deployments without
 * Python graphs don't ask the database.
 * @throws {ApiError} 422 when the thread belongs to graphs of the other language
 */
export async function checkThreadLanguage(
  manager: EntityManager,
  registry: GraphRegistry,
  { tenantId, threadId }: ThreadKey,
  graphId: string,
): Promise<void> {
  if (!registry.hasPython) return;
  const [{ versions, graphIds }]: [{ versions: string | null; graphIds: string[] }] = await manager.query(
    SELECT_LANGUAGE,
    [checkpointKey(tenantId, threadId), tenantId, threadId],
  );
  const written = versions === null ? undefined : LANGUAGE_OF_VERSIONS[versions];
  const own = registry.languageOf(graphId);
  const languages = written ? [written] : graphIds.map((each) => registry.languageOf(each));
  const other = languages.find((language) => language !== own);
  if (!other) return;
  const names = { threadLanguage: LANGUAGE_NAMES[other], graphLanguage: LANGUAGE_NAMES[own] };
  throw threadErrors.otherLanguage({ threadId, graphId, ...names });
}
