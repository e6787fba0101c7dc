import { ApiError } from '../http/api-error';

export const truncationErrors = {
  forbidden: () => new ApiError(403, 'forbidden', 'Forbidden'),
};
