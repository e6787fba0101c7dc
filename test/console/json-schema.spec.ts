import { initialOf, resolve } from '../../console/src/ui/json-schema';

const NODE = {
  type: 'object',
  properties: { name: { type: 'string' }, next: { anyOf: [{ $ref: '#/$defs/Node' }, { type: 'null' }] } },
};
const ROOT = { $ref: '#/$defs/Node', $defs: { Node: NODE, Self: { $ref: '#/$defs/Self' } } };

describe('the schema of a form', () => {
  it('is that of the definition which it refers to', () => {
    expect(resolve(ROOT, ROOT)).toMatchObject({ schema: NODE, refs: ['Node'] });
  });

  it('ends at a definition that it is inside of', () => {
    const { schema, refs } = resolve(ROOT, ROOT);
    expect(resolve(schema.properties!.next, ROOT, refs).schema).not.toHaveProperty('properties');
    expect(resolve({ $ref: '#/$defs/Self', title: 'Self' }, ROOT).schema).toEqual({ title: 'Self' });
  });

  it.each([
    ['no schema', null, {}],
    ['a text', 'text', {}],
    ['an unknown reference', { $ref: '#/$defs/Other', title: 'Other' }, { title: 'Other' }],
    [
      'keywords of a wrong type',
      { title: {}, properties: [], enum: 'a', anyOf: {}, type: 'string' },
      { type: 'string' },
    ],
    ['an alternative that is none', { anyOf: [null, { type: 'null' }] }, {}],
    ['constants', { anyOf: [{ const: 'a' }, { const: 'b' }] }, { enum: ['a', 'b'] }],
    ['one part of many', { allOf: [{ type: 'string' }], title: 'A' }, { type: 'string', title: 'A' }],
  ])('is read from %s', (_, given, schema) => {
    expect(resolve(given, ROOT).schema).toEqual(schema);
  });

  it.each([
    ['a box', { type: 'boolean' }, false],
    ['a default', { type: 'number', default: 3 }, 3],
    ['nothing', { type: 'number' }, undefined],
    [
      'what is required',
      {
        type: 'object',
        properties: { ok: { type: 'boolean' }, note: { type: 'string' }, sure: { type: 'boolean' } },
        required: ['ok', 'note'],
      },
      { ok: false },
    ],
    ['a definition', ROOT, {}],
  ])('begins with %s', (_, schema, value) => {
    expect(initialOf(schema)).toEqual(value);
  });
});
