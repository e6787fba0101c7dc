import type { ElicitRequest, InputRequest } from '@modelcontextprotocol/server';
import { answerable, isAnswer, resumeOf, toQuestions } from './questions';

const accept = (content: object): object => ({ action: 'accept', content });
const elicit = { method: 'elicitation/create', params: { message: 'a?', requestedSchema: { type: 'object' } } };
const sample = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } };

const only = (value: unknown, id = 'i') => {
  const [question] = toQuestions([{ id, value }]);
  const form = question.requests[id] as ElicitRequest | undefined;
  return { question, params: form?.params as { message: string; requestedSchema: Record<string, unknown> } };
};

describe('an interrupt', () => {
  it('asks with its text, and resumes with the answer', () => {
    const { question, params } = only('Go on?');
    expect(params).toMatchObject({ message: 'Go on?', requestedSchema: { required: ['answer'] } });
    expect(question.toResume({ i: accept({ answer: 'yes' }) })).toEqual({ kind: 'resume', id: 'i', value: 'yes' });
  });

  it('shows all fields of an object, its message first', () => {
    expect(only({ question: 'Approve?', draft: '$12' }).params.message).toBe('Approve?\n\n{"draft":"$12"}');
    expect(only({ message: 'Approve?' }).params.message).toBe('Approve?');
    expect(only({ draft: 1 }).params.message).toBe('{"draft":1}');
  });

  it.each([
    ['true', true],
    ['{"a":1}', { a: 1 }],
    ['[1]', [1]],
    ['0123', '0123'],
    ['42', '42'],
    ['[sic]', '[sic]'],
    ['truely', 'truely'],
    ['', ''],
  ])('reads the answer %p with its type', (answer, value) => {
    expect(only('?').question.toResume({ i: accept({ answer }) })).toMatchObject({ value });
  });

  it.each(['decline', 'cancel'])('has no answer when the user chooses %s', (action) => {
    expect(only('?').question.toResume({ i: { action } })).toBeUndefined();
  });

  it('sends the protocol requests that the graph wrote, and passes the responses to the graph', () => {
    const { question } = only({ inputRequests: { name: elicit, model: sample } });
    expect(question.requests).toEqual({ name: elicit, model: sample });
    const responses = { name: { action: 'decline' }, model: { content: {} } };
    expect(question.toResume(responses)).toEqual({ kind: 'resume', id: 'i', value: responses });
  });

  it('of the human-in-the-loop middleware asks for a decision on each action', () => {
    const { question, params } = only({
      actionRequests: [
        { name: 'pay', args: { sum: 12 } },
        { name: 'mail', args: {}, description: 'Mail to Ada' },
      ],
      reviewConfigs: [{ actionName: 'pay', allowedDecisions: ['approve', 'edit', 'reject'] }],
    });
    expect(params.message).toBe('pay({"sum":12})\n\nMail to Ada');
    expect(params.requestedSchema).toMatchObject({
      properties: { decision_1: { enum: ['approve', 'reject'] }, decision_2: { enum: ['approve', 'reject'] } },
      required: ['decision_1', 'decision_2'],
    });
    const given = accept({ decision_1: 'reject', message_1: 'too much', decision_2: 'approve', message_2: '' });
    expect(question.toResume({ i: given })).toEqual({
      kind: 'resume',
      id: 'i',
      value: { decisions: [{ type: 'reject', message: 'too much' }, { type: 'approve' }] },
    });
  });

  it('of the middleware that allows only edits is answered as JSON', () => {
    const { params } = only({
      actionRequests: [{ name: 'pay' }],
      reviewConfigs: [{ actionName: 'pay', allowedDecisions: ['edit'] }],
    });
    expect(params.requestedSchema).toMatchObject({ required: ['answer'] });
  });

  it('about an unknown outcome starts the step again only when the user confirms it', () => {
    const { question } = only({ type: 'unknown_outcome', message: 'A worker was lost' });
    expect(question.toResume({ i: accept({ start_again: true }) })).toEqual({ kind: 'restart' });
    expect(question.toResume({ i: accept({ start_again: false }) })).toBeUndefined();
  });

  it('has its own key beside others', () => {
    const questions = toQuestions([{ value: 'a' }, { id: 'x', value: 'b' }]);
    expect(questions.map(({ requests }) => Object.keys(requests))).toEqual([['interrupt_1'], ['x']]);
  });
});

describe('several interrupts with the same keys of their own', () => {
  const requests = { confirm: elicit } as unknown as Record<string, InputRequest>;
  const questions = toQuestions(['a', 'b'].map((id) => ({ id, value: { inputRequests: requests } })));

  it('ask all that they ask, each under a key of its own', () => {
    expect(questions.map((question) => question.requests)).toEqual([{ 'a/confirm': elicit }, { 'b/confirm': elicit }]);
  });

  it('are not answered until all of them are, each with its own response', () => {
    const [yes, no] = [accept({ ok: true }), { action: 'decline' }];
    expect(resumeOf(questions, { 'b/confirm': yes }, { elicitation: {} })).toBe('unanswered');
    expect(resumeOf(questions, { confirm: yes }, { elicitation: {} })).toBe('unanswered');
    const responses = { 'a/confirm': no, 'b/confirm': yes };
    expect(resumeOf(questions, responses, { elicitation: {} })).toEqual([
      { kind: 'resume', id: 'a', value: { confirm: no } },
      { kind: 'resume', id: 'b', value: { confirm: yes } },
    ]);
    expect(responses).toEqual({});
  });
});

describe('what a client can answer', () => {
  const requests = { name: elicit, model: sample } as unknown as Record<string, InputRequest>;

  it('is asked, and nothing else', () => {
    expect(Object.keys(answerable(requests, { sampling: {} }))).toEqual(['model']);
    expect(Object.keys(answerable(requests, { sampling: {}, elicitation: {} }))).toEqual(['name', 'model']);
  });

  it('is asked even when the client declared no abilities, so that it learns what is missing', () => {
    expect(answerable(requests, undefined)).toEqual(requests);
  });
});

describe('an answer', () => {
  const { params } = elicit;
  const form = {
    method: 'elicitation/create',
    params: { ...params, requestedSchema: { type: 'object', properties: {}, required: ['ok'] } },
  } as unknown as InputRequest;
  const roots = { method: 'roots/list' } as InputRequest;

  it.each([
    [form, accept({ ok: true }), true],
    [form, accept({}), false],
    [form, { action: 'accept' }, false],
    [form, { action: 'decline' }, true],
    [form, 'yes', false],
    [form, undefined, false],
    [sample as unknown as InputRequest, { role: 'assistant', content: { type: 'text', text: 'x' } }, true],
    [sample as unknown as InputRequest, { action: 'accept' }, false],
    [roots, { roots: [] }, true],
    [roots, {}, false],
  ])('to %p is %p: %p', (request, response, expected) => {
    expect(isAnswer(request, response)).toBe(expected);
  });
});
