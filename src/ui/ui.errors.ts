import { ApiError } from '../http/api-error';

export const uiErrors = {
  notFound: (name: string) => new ApiError(404, 'ui_not_found', `UI not found for agent "${name}"`, { format: 'text' }),
  fileNotFound: () => new ApiError(404, 'ui_file_not_found', 'File not found', { format: 'text' }),
  notBundled: (name: string, reason: string) =>
    new ApiError(500, 'ui_not_bundled', `langgraph.json: ui.${name} could not be bundled: ${reason}`),
};
