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
  findingsDenied: () =>
    new ApiError(
      401,
      'findings_denied',
      'Send GANTRY_ADMIN_KEY or an API key of the operator as X-API-Key, or Authorization: Bearer <GANTRY_METRICS_TOKEN>',
      { headers: { 'WWW-Authenticate': 'Bearer' } },
    ),
  findingsOfOperator: () =>
    new ApiError(
      403,
      'findings_of_operator',
      'The findings are of the whole deployment: only the operator may read them',
    ),
};
