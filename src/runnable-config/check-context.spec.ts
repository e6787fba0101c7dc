import { checkContext } from './check-context';

const isRefused = (configurable: object, context: object): boolean => {
  try {
    checkContext({ config: { configurable: { ...configurable } }, context: { ...context } });
    return false;
  } catch (error) {
    expect(error).toMatchObject({ status: 400, code: 'config_and_context' });
    return true;
  }
};

/** What the server adds to the `configurable` of a run. */
const ofRun = { run_id: 'r', thread_id: 't', graph_id: 'g', assistant_id: 'a', run_attempt: 1, 'x-team': 'support' };

describe('context beside configurable', () => {
  it.each([
    ['the same values', { a: 1 }, { a: 1 }],
    ['other values', { a: 1 }, { b: 1 }],
    ['another value of the same key', { a: 1 }, { a: 2 }],
    ['a value that context lacks', { a: 1, b: 1 }, { a: 1 }],
    ['another value in what a graph passes on', { ...ofRun, a: 1 }, { a: 2 }],
  ])('is refused: %s', (_, configurable, context) => {
    expect(isRefused(configurable, context)).toBe(true);
  });

  it.each([
    ['only one of them has a value', {}, { a: 1 }],
    ['the config of a run that a graph passes on', { ...ofRun, a: 1 }, { a: 1 }],
    ['the same of a graph that was called like this', { ...ofRun, a: 1 }, { a: 1, run_id: 'r0', graph_id: 'g0' }],
  ])('is accepted: %s', (_, configurable, context) => {
    expect(isRefused(configurable, context)).toBe(false);
  });
});
