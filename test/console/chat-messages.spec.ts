import { messagesOf } from '../../console/src/ui/chat-messages';

const HUMAN = { type: 'human', content: 'Hello' };

describe('messages of a state', () => {
  it.each([
    ['texts', [HUMAN, { type: 'ai', content: 'Hello', tool_calls: null, name: null }]],
    ['blocks', [{ type: 'ai', content: ['a', { type: 'text', text: 'b' }] }]],
    ['calls of tools', [{ type: 'ai', content: '', tool_calls: [{ id: '1', name: 'add', args: {} }] }]],
    ['content of another form', [{ type: 'tool', content: null }]],
  ])('are found with %s', (_, messages) => {
    expect(messagesOf({ messages })).toEqual(messages);
  });

  it.each([
    ['no list', HUMAN],
    ['no object', null],
    ['a type that is no text', { ...HUMAN, type: { a: 1 } }],
    ['a name that is no text', { ...HUMAN, name: { a: 1 } }],
    ['a block that is none', { ...HUMAN, content: [null] }],
    ['calls that are no list', { ...HUMAN, tool_calls: {} }],
    ['a call that is none', { ...HUMAN, tool_calls: [null] }],
    ['a call whose name is no text', { ...HUMAN, tool_calls: [{ name: {} }] }],
  ])('are none with %s', (name, message) => {
    expect(messagesOf({ messages: name === 'no list' ? message : [HUMAN, message] })).toBeUndefined();
  });
});
