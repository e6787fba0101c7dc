import { DatabaseError } from 'pg';
import { FencedError } from '../../database/fence';
import { PostgresUnreachable } from '../../database/lost-connections';
import { TOKEN_REFUSED } from '../../database/tenant-token';
import { causesOf } from './thrown-values';

/**
 * Whether another attempt is right, rather than an end as `error`: after an error of Gantry's own connections, or because
 * another attempt holds the run. An error of a connection of user code is one of the run.
 */
export function isInfrastructure(error: unknown): boolean {
  return [...causesOf(error)].some(
    (cause) =>
      cause instanceof FencedError ||
      cause instanceof PostgresUnreachable ||
      (cause instanceof DatabaseError && cause.code === TOKEN_REFUSED),
  );
}
