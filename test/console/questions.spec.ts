import { answerSchemaOf, continuationOf, reviewOf, summaryOf } from '../../console/src/ui/questions';

describe('a question', () => {
  it.each([
    ['a text', 'Ship it?', 'Ship it?'],
    ['a question', { question: 'Ship it?', description: 'Now' }, 'Ship it?'],
    ['a description', { question: { a: 1 }, description: 'Now' }, 'Now'],
    ['the description of a request', { action_requests: [{ name: 'ship', description: 'Ships it' }] }, 'Ships it'],
    ['the name of a request', { action_requests: [{ name: 'ship', description: {} }] }, 'ship'],
    ['the description of a JavaScript agent’s request', { actionRequests: [{ description: 'Ships it' }] }, 'Ships it'],
    [
      'the name of an action with a question of its own',
      { type: 'tool_approval', name: 'ship', description: '' },
      'ship',
    ],
    ['the node in doubt', { type: 'unknown_outcome', node: 'ship' }, 'The outcome of ship is unknown'],
    ['JSON for another form', { question: { a: 1 } }, '{"question":{"a":1}}'],
    ['JSON for requests of another form', { action_requests: [null] }, '{"action_requests":[null]}'],
    ['JSON for nothing', undefined, 'null'],
  ])('is summed up by %s', (_, value, summary) => {
    expect(summaryOf({ value })).toBe(summary);
  });

  it.each([[undefined], ['text'], [[]], [{ action_requests: { a: 1 } }], [{ action_requests: [null] }]])(
    'asks for no decision on actions in %j',
    (value) => {
      expect(reviewOf({ value })).toBeUndefined();
    },
  );

  describe('about actions', () => {
    const args = { to: 'ann' };
    const edited_action = { name: 'mail', args };

    it.each([
      [
        'Python',
        {
          action_requests: [{ name: 'mail', args }],
          review_configs: [{ action_name: 'mail', allowed_decisions: ['reject', 'approve'] }],
        },
      ],
      [
        'JavaScript',
        {
          actionRequests: [{ name: 'mail', args }],
          reviewConfigs: [{ actionName: 'mail', allowedDecisions: ['approve', 'reject'] }],
        },
      ],
    ])('offers the decisions that an agent in %s allows, and answers in the names of both languages', (_, value) => {
      const review = reviewOf({ value })!;
      expect(review.actions).toEqual([{ name: 'mail', args, allowed: ['approve', 'reject'] }]);
      expect(review.answerOf([{ type: 'edit', edited_action }])).toEqual({
        decisions: [{ type: 'edit', edited_action, editedAction: edited_action }],
      });
    });

    it('offers what the schema of one action’s own question describes, and answers with one decision', () => {
      const branch = (type: string): object => ({ type: 'object', properties: { type: { const: type } } });
      const schema = { oneOf: [branch('approve'), branch('respond')] };
      const value = { type: 'tool_approval', name: 'mail', args, description: 'Mails' };
      const review = reviewOf({ value, response_schema: schema })!;
      expect(review.actions).toEqual([{ name: 'mail', args, allowed: ['approve', 'respond'] }]);
      expect(review.answerOf([{ type: 'approve' }])).toEqual({ type: 'approve' });
    });
  });

  it('is answered by its id, unless it is about a node in doubt, which starts again', () => {
    expect(continuationOf({ id: 'a', value: 'Pay?' }, 'yes')).toEqual({ command: { resume: { a: 'yes' } } });
    expect(continuationOf({ value: 'Pay?' }, 'yes')).toEqual({ command: { resume: 'yes' } });
    expect(continuationOf({ id: 'a', value: { type: 'unknown_outcome' } }, 'reject')).toEqual({ input: null });
  });

  it('has the first schema that is an object', () => {
    expect(answerSchemaOf({ value: { response_schema: 'text', schema: { type: 'string' } } })).toEqual({
      type: 'string',
    });
    expect(answerSchemaOf({ value: { schema: [] } })).toBeUndefined();
    expect(answerSchemaOf({ value: { schema: {} }, response_schema: { type: 'number' } })).toEqual({ type: 'number' });
    expect(answerSchemaOf({ value: 'How many?', response_schema: null })).toBeUndefined();
  });
});
