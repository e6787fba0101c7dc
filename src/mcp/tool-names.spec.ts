import { afterCursor, type NamedAssistant, nameTools, toCursor, toToolName } from './tool-names';

const assistant = (name: string, more: Partial<NamedAssistant> = {}): NamedAssistant => ({
  assistantId: '00000000-0000-7000-8000-0000000000aa',
  graphId: 'graph',
  name,
  createdAt: new Date(1_000),
  ...more,
});

const DEFAULT_ID = '00000000-0000-5000-8000-000000000001';
const isDefault = (assistantId: string): boolean => assistantId === DEFAULT_ID;

describe('the name of a tool', () => {
  it.each([
    ['agent', 'agent'],
    ['  My  first\tagent ', 'My_first_agent'],
    ['Ümläut & Söhne (v1.2-b)', 'mlut__Shne_v1.2-b'],
    ['日本', ''],
    ['x'.repeat(200), 'x'.repeat(128)],
  ])('is %p in the characters that the protocol allows', (name, expected) => {
    expect(toToolName(name)).toBe(expected);
  });

  it('is that of the graph when no character of the assistant’s name is allowed', () => {
    expect([...nameTools([assistant('日本')], isDefault).keys()]).toEqual(['graph']);
  });

  it('goes to the default assistant first, then to the oldest; the others get the end of their id appended', () => {
    const young = assistant('agent', {
      assistantId: '00000000-0000-7000-8000-000012345678',
      createdAt: new Date(3_000),
    });
    const old = assistant('agent', { assistantId: '00000000-0000-7000-8000-00009abcdef0', createdAt: new Date(2_000) });
    const system = assistant('agent', { assistantId: DEFAULT_ID, createdAt: new Date(9_000) });
    expect([...nameTools([young, old, system], isDefault)]).toEqual([
      ['agent', system],
      ['agent_9abcdef0', old],
      ['agent_12345678', young],
    ]);
  });

  it('stays within the length limit with an id appended, and is unique', () => {
    const long = 'x'.repeat(128);
    const twins = ['11111111', '22222222', '33333333'].map((group) =>
      assistant(long, { assistantId: `${group}-0000-7000-8000-0000aaaaaaaa` }),
    );
    const names = [...nameTools(twins, isDefault).keys()];
    expect(new Set(names).size).toBe(3);
    expect(names.every((name) => name.length <= 128)).toBe(true);
  });
});

describe('a cursor', () => {
  it('continues after its assistant when assistants are created and deleted', () => {
    const [first, second, third] = [1, 2, 3].map((index) =>
      assistant('a', { assistantId: `${index}`, createdAt: new Date(index) }),
    );
    const isAfter = afterCursor(toCursor(second, isDefault), isDefault)!;
    expect([first, second, third].map(isAfter)).toEqual([false, false, true]);
    expect(isAfter(assistant('a', { assistantId: DEFAULT_ID, createdAt: new Date(9) }))).toBe(false);
  });

  it.each(['', 'x', '7', Buffer.from('{}').toString('base64url'), Buffer.from('[1,2]').toString('base64url')])(
    'is never %p',
    (cursor) => {
      expect(afterCursor(cursor, isDefault)).toBeUndefined();
    },
  );
});
