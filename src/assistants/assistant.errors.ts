import { ApiError } from '../http/api-error';

export const assistantErrors = {
  notFound: () => new ApiError(404, 'assistant_not_found', 'Assistant not found', { format: 'text' }),
  unknownForRun: (id: string) =>
    new ApiError(
      404,
      'assistant_not_found',
      `No assistant found for "${id}". Make sure the assistant ID is for a valid assistant or a valid graph ID.`,
      {
        format: 'text',
      },
    ),
  unknownGraph: (graphId: string, known: string[]) =>
    new ApiError(404, 'graph_not_found', `Graph "${graphId}" is not served here; there are: ${known.join(', ')}`, {
      format: 'text',
    }),
  brokenGraph: (graphId: string, problem: string) =>
    new ApiError(400, 'broken_graph', `Graph "${graphId}" can't be served: ${problem}`),
  exists: (id: string) => new ApiError(409, 'assistant_exists', `Assistant ${id} already exists`),
  versionNotFound: (version: number) =>
    new ApiError(404, 'assistant_version_not_found', `Version ${version} of the assistant not found`, {
      format: 'text',
    }),
  noVersions: () => new ApiError(404, 'assistant_version_not_found', 'No assistant versions found', { format: 'text' }),
  system: () =>
    new ApiError(
      409,
      'system_assistant',
      'This is the default assistant of a graph: it exists as long as the graph is served',
    ),
};
