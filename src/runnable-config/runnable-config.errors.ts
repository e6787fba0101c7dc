import { ApiError } from '../http/api-error';

export const runnableConfigErrors = {
  configAndContext: () =>
    new ApiError(400, 'config_and_context', 'Give either `context` or `config.configurable`, not both'),
};
