import { pickOutput, toGraphInput, toInputSchema, toOutputSchema } from './tool-schemas';

const plain = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { topic: { type: 'string' }, depth: { type: 'number', default: 1 } },
  required: ['topic', 'depth'],
  additionalProperties: false,
};
/** As zod states of the library declare it, without a shape. */
const shapeless = { type: 'object', properties: { messages: {}, topic: { type: 'string' } } };
/** As schemas of typed states declare it. */
const union = {
  type: 'object',
  properties: {
    history: {
      type: 'array',
      items: { anyOf: [{ $ref: '#/definitions/HumanMessage' }, { $ref: '#/definitions/AIMessageChunk' }] },
    },
    tags: { type: 'array', items: { type: 'string' } },
  },
  definitions: { HumanMessage: { type: 'object' }, AIMessageChunk: { type: 'object' } },
};

/** As schemas read from TypeScript types are: generic names, in definitions that refer to each other. */
const typed = {
  type: 'object',
  properties: {
    messages: {
      type: 'array',
      items: { $ref: '#/definitions/BaseMessage<MessageStructure<MessageToolSet>,MessageType>' },
    },
    order: { $ref: '#/definitions/Order<string>' },
  },
  definitions: {
    'BaseMessage<MessageStructure<MessageToolSet>,MessageType>': { oneOf: [{ $ref: '#/definitions/RemoveMessage' }] },
    RemoveMessage: { type: 'object' },
    'Order<string>': {
      type: 'object',
      properties: { lines: { type: 'array', items: { $ref: '#/definitions/Line' } } },
    },
    Line: { type: 'object' },
  },
};

describe('the input schema of a tool', () => {
  it('is the schema that the graph declares', () => {
    expect(toInputSchema(plain)).toEqual(plain);
  });

  it('allows any object when the graph declares none', () => {
    expect(toInputSchema(null)).toEqual({ type: 'object' });
  });

  it.each([
    ['messages without a shape', shapeless, 'messages'],
    ['a list of message shapes', union, 'history'],
  ])('takes a text for %s', (_, schema, key) => {
    const input = toInputSchema(schema);
    expect(input.properties?.[key]).toMatchObject({ type: 'string' });
    expect(input).not.toHaveProperty('definitions');
    expect(toGraphInput({ [key]: 'hi', topic: 'x' }, schema)).toEqual({
      [key]: [{ role: 'user', content: 'hi' }],
      topic: 'x',
    });
  });

  it('keeps definitions that are referenced, and no others', () => {
    const schema = { ...union, properties: { ...union.properties, one: { $ref: '#/definitions/HumanMessage' } } };
    expect(toInputSchema(schema).definitions).toEqual({ HumanMessage: { type: 'object' } });
    const { properties, definitions } = toInputSchema(typed);
    expect(properties?.messages).toMatchObject({ type: 'string' });
    expect(Object.keys(definitions as object)).toEqual(['Order<string>', 'Line']);
    expect(toGraphInput({ messages: 'hi' }, typed)).toEqual({ messages: [{ role: 'user', content: 'hi' }] });
  });

  it('leaves other lists unchanged', () => {
    expect(toInputSchema(union).properties?.tags).toEqual({ type: 'array', items: { type: 'string' } });
    expect(toGraphInput({ tags: 'no list' }, union)).toEqual({ tags: 'no list' });
  });
});

describe('the output schema of a tool', () => {
  it('requires no key, since a graph may end before it writes one', () => {
    expect(toOutputSchema(plain)).toEqual({ ...plain, required: undefined });
    expect(toOutputSchema(plain)).not.toHaveProperty('required');
  });

  it('is absent when the graph declares none', () => {
    expect(toOutputSchema(null)).toBeUndefined();
    expect(toOutputSchema({ type: 'object' })).toBeUndefined();
  });

  it('describes messages as objects', () => {
    expect(toOutputSchema(union)?.properties?.history).toEqual({ type: 'array', items: { type: 'object' } });
  });

  it('selects the output keys of the state', () => {
    expect(pickOutput({ topic: 'x', secret: 1 }, toOutputSchema(plain))).toEqual({ topic: 'x' });
    expect(pickOutput({ topic: 'x', secret: 1 }, undefined)).toEqual({ topic: 'x', secret: 1 });
  });
});
