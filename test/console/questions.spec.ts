import { answerSchemaOf, requestsOf, summaryOf } from '../../console/src/ui/questions';

describe('a question', () => {
  it.each([
    ['a text', 'Ship it?', 'Ship it?'],
    ['a question', { question: 'Ship it?', description: 'Now' }, 'Ship it?'],
    ['a description', { question: { a: 1 }, description: 'Now' }, 'Now'],
    ['the description of a request', { action_requests: [{ name: 'ship', description: 'Ships it' }] }, 'Ships it'],
    ['the name of a request', { action_requests: [{ name: 'ship', description: {} }] }, 'ship'],
    ['JSON for another form', { question: { a: 1 } }, '{"question":{"a":1}}'],
    ['JSON for requests of another form', { action_requests: [null] }, '{"action_requests":[null]}'],
    ['JSON for nothing', undefined, 'null'],
  ])('is summed up by %s', (_, value, summary) => {
    expect(summaryOf({ value })).toBe(summary);
  });

  it.each([[undefined], ['text'], [[]], [{ action_requests: { a: 1 } }], [{ action_requests: [null] }]])(
    'asks for no decision on actions in %j',
    (value) => {
      expect(requestsOf({ value })).toBeUndefined();
    },
  );

  it('has the first schema that is an object', () => {
    expect(answerSchemaOf({ value: { response_schema: 'text', schema: { type: 'string' } } })).toEqual({
      type: 'string',
    });
    expect(answerSchemaOf({ value: { schema: [] } })).toBeUndefined();
  });
});
