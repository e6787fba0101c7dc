import { ApiError } from '../http/api-error';

export const threadErrors = {
  notFound: (threadId: string) =>
    new ApiError(404, 'thread_not_found', `Thread with ID ${threadId} not found`, { format: 'text' }),
  exists: (threadId: string) => new ApiError(409, 'thread_exists', `Thread with ID ${threadId} already exists`),
  busy: () =>
    new ApiError(409, 'thread_busy', 'Thread is busy with a running or pending run: wait for it or cancel it first'),
  beingEdited: () =>
    new ApiError(409, 'thread_being_edited', 'Other edits of the thread have not ended yet: try again later'),
  noGraph: () =>
    new ApiError(
      400,
      'thread_without_graph',
      'Thread has no graph yet: run an assistant on it, or set metadata.graph_id',
    ),
  otherLanguage: (named: { threadId: string; threadLanguage: string; graphId: string; graphLanguage: string }) =>
    new ApiError(
      422,
      'thread_of_other_language',
      `Thread ${named.threadId} has the state of a graph in ${named.threadLanguage}, which the assistant's graph ` +
        `"${named.graphId}", in ${named.graphLanguage}, can't read: use another thread`,
    ),
  stateRefused: (message: string) => new ApiError(400, 'state_refused', message),
};
