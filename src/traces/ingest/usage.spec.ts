import { exactNumber } from '../../http/exact-json';
import { usageOf } from './usage';

describe('usage of a model call', () => {
  it.each([
    [
      'usage_metadata',
      { usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 8 } },
      undefined,
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 8 },
    ],
    [
      'a sum when there is no total',
      { usage_metadata: { input_tokens: 3, output_tokens: 4 } },
      undefined,
      { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    ],
    [
      'OpenAI',
      { usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
      undefined,
      { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
    ],
    [
      'LangChain',
      { llm_output: { token_usage: { prompt_tokens: 1, total_tokens: 1 } } },
      undefined,
      { prompt_tokens: 1, total_tokens: 1 },
    ],
    [
      'a serialised message',
      { generations: [[{ message: { kwargs: { usage_metadata: { input_tokens: 5 } } } }]] },
      undefined,
      { prompt_tokens: 5, total_tokens: 5 },
    ],
    ['metadata', {}, { usage_metadata: { output_tokens: 2 } }, { completion_tokens: 2, total_tokens: 2 }],
    [
      'costs',
      { usage_metadata: { total_tokens: 1, input_cost: 0.1, output_cost: '0.2' } },
      undefined,
      { total_tokens: 1, prompt_cost: 0.1, completion_cost: 0.2, total_cost: 0.30000000000000004 },
    ],
  ])('is read from %s', (_title, outputs, metadata, expected) => {
    expect(usageOf(outputs, metadata)).toEqual(expected);
  });

  const response = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  it.each([
    ['llm', { usage: response }, response],
    ['embedding', { usage: response }, response],
    ['chain', { usage: response }, undefined],
    ['tool', { llm_output: { token_usage: response } }, undefined],
    ['chain', { generations: [[{ message: { usage_metadata: { input_tokens: 5 } } }]] }, undefined],
    ['tool', { usage_metadata: { total_cost: 1 } }, { total_cost: 1 }],
    ['chain', { usage: response, usage_metadata: { total_tokens: 4 } }, { total_tokens: 4 }],
  ])('is that of the run itself: a run of type %s with %j', (runType, outputs, expected) => {
    expect(usageOf(outputs, undefined, runType)).toEqual(expected);
  });

  it.each([
    [null],
    ['text'],
    [[]],
    [{ usage: 'much' }],
    [{ usage_metadata: { input_tokens: -1 } }],
    [{ usage: { cached: 1 } }],
  ])('is absent from %j', (outputs) => {
    expect(usageOf(outputs, undefined)).toBeUndefined();
  });

  it('has no details where these are a number, however large', () => {
    const details = exactNumber('12345678901234567890');
    const outputs = { usage_metadata: { input_tokens: 1, input_token_details: details } };
    expect(usageOf(outputs, undefined)).toEqual({ prompt_tokens: 1, total_tokens: 1 });
  });
});
