import { ApiError } from '../http/api-error';

export const authErrors = {
  missingKey: () => new ApiError(401, 'missing_api_key', 'Missing authentication: send an API key as X-API-Key'),
  unknownKey: () => new ApiError(401, 'invalid_api_key', 'Invalid API key'),
  missingTenant: () =>
    new ApiError(
      401,
      'missing_tenant',
      'Missing authentication: send the workspace id as X-Tenant-Id beside X-API-Key',
    ),
  otherTenant: () =>
    new ApiError(403, 'wrong_tenant', 'X-Tenant-Id names a workspace that this request has no access to'),
};
