import { inputRespondSchema } from '../event-protocol/event-protocol.schemas';
import { commandSchema } from './command.schema';

const sent = { lg_name: 'Send', node: 'a', args: { item: 1 } };
const taken = { node: 'a', input: { item: 1 } };

describe('a command', () => {
  it.each([
    ['a name', 'a', 'a'],
    ['a node with its input', taken, taken],
    ['a Send as LangGraph writes it', sent, taken],
    ['a list of all', ['a', taken, sent], ['a', taken, taken]],
    ['an input of null', { node: 'a', input: null, args: 1 }, { node: 'a', input: null }],
  ])('goes to %s, also with an answer', (_, goto, expected) => {
    expect(commandSchema.parse({ lg_name: 'Command', goto })).toEqual({ goto: expected });
    expect(inputRespondSchema.parse({ interrupt_id: 'i', goto })).toMatchObject({ goto: expected });
  });
});
