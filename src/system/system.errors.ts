import { ApiError } from '../http/api-error';

export const systemErrors = {
  metricsDenied: () =>
    new ApiError(
      401,
      'metrics_denied',
      'Send Authorization: Bearer <GANTRY_METRICS_TOKEN>, or the API key of the operator',
      {
        headers: { 'WWW-Authenticate': 'Bearer' },
      },
    ),
};
