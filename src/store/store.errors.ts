import { ApiError, invalidField } from '../http/api-error';
import type { StoreRefusal } from '../item-store/store-refusal';

export const storeErrors = {
  notFound: () => new ApiError(404, 'item_not_found', 'Item not found', { format: 'text' }),
  forbidden: () => new ApiError(403, 'forbidden', 'Forbidden'),
  tooManyToSearch: () =>
    new ApiError(400, 'search_too_wide', 'Too many items are not for this user: search below a narrower namespace'),
  refused: ({ path, reason, kind }: StoreRefusal) =>
    kind === 'shape'
      ? invalidField(path, reason)
      : new ApiError(400, 'store_refused', `${path}: ${reason}`, { errors: [{ path, message: reason }] }),
  tooLarge: () => invalidField('value', 'is nested too deeply or has too long a text to be stored'),
  /** The embedding function is the deployment's own code, or a provider that it calls. */
  notEmbedded: (reason: string) =>
    new ApiError(502, 'embedding_failed', `The embedding function of store.index failed: ${reason}`),
};
