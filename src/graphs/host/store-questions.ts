import { inEncryptionContext } from '../../database/at-rest';
import type { TenantId } from '../../database/tenant-id';
import type { ExecuteRequest, ToProcess } from './protocol';
import type { StoreOperations, StoreQuestion } from './store-operations';

type StoreAnswer = Extract<ToProcess, { type: 'store-result' }>;

/** The work in flight of a graph process on whose behalf it asks. */
export interface Asker {
  /** Undefined where the process names neither a run that it executes nor a tenant of its work. */
  tenantId: string | undefined;
  run: ExecuteRequest | undefined;
}

/** Performs a store operation for a graph process that doesn't reach the store itself. Errors are answers as well. */
export async function answerStoreQuestion(
  store: StoreOperations,
  { request, operation }: StoreQuestion,
  { tenantId, run }: Asker,
): Promise<StoreAnswer> {
  const answer = (given: { value: unknown } | { error: string }): StoreAnswer => ({
    type: 'store-result',
    request,
    ...given,
  });
  if (tenantId === undefined) return answer({ error: 'The store is open to runs and calls in flight alone' });
  try {
    const value = await inEncryptionContext(run?.kwargs.encryption_context, () =>
      store.perform(tenantId as TenantId, operation, run && { runId: run.runId, attempt: run.attempt }),
    );
    return answer({ value });
  } catch (error) {
    return answer({ error: error instanceof Error ? error.message : String(error) });
  }
}
