import { type ReactNode, useId } from 'react';
import type { JsonSchema } from '../api/graph-schemas';
import { Button, IconButton } from './button';
import { JsonField } from './json-editor';

interface Props {
  schema: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Fields that are not shown. */
  omit?: string[];
}

type Values = Record<string, unknown>;

/** Resolves references, and the non-null alternative of `T | null`. */
function resolve(schema: JsonSchema, root: JsonSchema): JsonSchema {
  const name = /^#\/(?:\$defs|definitions)\/(.+)$/.exec(schema.$ref ?? '')?.[1];
  if (name !== undefined) {
    const found = root.$defs?.[name] ?? root.definitions?.[name];
    return found ? resolve({ ...found, ...withoutRef(schema) }, root) : withoutRef(schema);
  }
  const alternatives = schema.anyOf ?? schema.oneOf;
  const real = alternatives?.filter(({ type }) => type !== 'null');
  if (real?.length === 1) return resolve({ ...schema, anyOf: undefined, oneOf: undefined, ...real[0] }, root);
  if (real && real.length > 1 && real.every((each) => each.const !== undefined)) {
    return { ...schema, anyOf: undefined, oneOf: undefined, enum: real.map((each) => each.const) };
  }
  if (schema.allOf?.length === 1) return resolve({ ...schema, allOf: undefined, ...schema.allOf[0] }, root);
  return schema;
}

function withoutRef({ $ref: _, ...rest }: JsonSchema): JsonSchema {
  return rest;
}

const typeOf = ({ type }: JsonSchema): string | undefined =>
  Array.isArray(type) ? type.find((each) => each !== 'null') : type;

const LONG_TEXT = /prompt|instruction|template|description/i;

function Field({
  name,
  schema,
  root,
  value,
  onChange,
  isRequired,
}: {
  name: string;
  schema: JsonSchema;
  root: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  isRequired: boolean;
}) {
  const id = useId();
  const field = resolve(schema, root);
  const type = typeOf(field);
  const text = typeof value === 'string' || typeof value === 'number' ? String(value) : '';
  const shownDefault = field.default === undefined ? '' : String(JSON.stringify(field.default)).replace(/^"|"$/g, '');
  const label = (
    <span className="mb-1 flex items-baseline gap-1.5 font-medium">
      {field.title ?? name}
      {isRequired && <span className="text-xs font-normal text-muted">required</span>}
    </span>
  );
  const about = field.description && <p className="mb-1 text-xs text-muted">{field.description}</p>;
  const inLabel = (input: ReactNode): ReactNode => (
    <label className="block" htmlFor={id}>
      {label}
      {about}
      {input}
    </label>
  );

  if (field.enum) {
    return inLabel(
      <select
        id={id}
        className="field"
        value={JSON.stringify(value) ?? ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : JSON.parse(target.value))}
      >
        <option value="">{shownDefault ? `Default: ${shownDefault}` : 'Not set'}</option>
        {field.enum.map((each) => (
          <option key={String(each)} value={JSON.stringify(each)}>
            {String(each)}
          </option>
        ))}
      </select>,
    );
  }
  if (type === 'boolean') {
    return (
      <label className="flex items-start gap-2">
        <input
          type="checkbox"
          className="mt-0.5 size-4"
          checked={(value ?? field.default) === true}
          onChange={({ target }) => onChange(target.checked)}
        />
        <span>
          <span className="font-medium">{field.title ?? name}</span>
          {about}
        </span>
      </label>
    );
  }
  if (type === 'string' && LONG_TEXT.test(name)) {
    return inLabel(
      <textarea
        id={id}
        rows={4}
        className="field h-auto py-1.5"
        value={text}
        placeholder={shownDefault}
        onChange={({ target }) => onChange(target.value || undefined)}
      />,
    );
  }
  if (type === 'string') {
    return inLabel(
      <input
        id={id}
        className="field"
        value={text}
        placeholder={shownDefault}
        onChange={({ target }) => onChange(target.value || undefined)}
      />,
    );
  }
  if (type === 'number' || type === 'integer') {
    return inLabel(
      <input
        id={id}
        type="number"
        step={type === 'integer' ? 1 : 'any'}
        min={field.minimum}
        max={field.maximum}
        className="field"
        value={text}
        placeholder={shownDefault}
        onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
      />,
    );
  }
  if (type === 'object' && field.properties) {
    return (
      <fieldset className="rounded-md border border-line p-3">
        <legend className="px-1 font-medium">{field.title ?? name}</legend>
        {about}
        <Fields schema={field} root={root} value={value} onChange={onChange} />
      </fieldset>
    );
  }
  if (
    type === 'array' &&
    field.items &&
    ['string', 'number', 'integer'].includes(typeOf(resolve(field.items, root)) ?? '')
  ) {
    const list = Array.isArray(value) ? (value as unknown[]) : [];
    const isNumber = typeOf(resolve(field.items, root)) !== 'string';
    return (
      <fieldset>
        <legend>{label}</legend>
        {about}
        <div className="space-y-1.5">
          {list.map((each, index) => (
            <div key={index} className="flex gap-1">
              <input
                aria-label={`${field.title ?? name} ${index + 1}`}
                className="field"
                type={isNumber ? 'number' : 'text'}
                value={String(each)}
                onChange={({ target }) => onChange(list.with(index, isNumber ? Number(target.value) : target.value))}
              />
              <IconButton icon="close" label="Remove" onClick={() => onChange(list.toSpliced(index, 1))} />
            </div>
          ))}
          <Button small icon="plus" onClick={() => onChange([...list, isNumber ? 0 : ''])}>
            Add
          </Button>
        </div>
      </fieldset>
    );
  }
  return (
    <div>
      {label}
      {about}
      <JsonField value={value} onChange={onChange} label={field.title ?? name} />
    </div>
  );
}

function Fields({ schema, root, value, onChange, omit = [] }: Props & { root: JsonSchema }) {
  const values = (value ?? {}) as Values;
  return (
    <div className="space-y-4">
      {Object.entries(schema.properties ?? {})
        .filter(([name]) => !omit.includes(name))
        .map(([name, field]) => (
          <Field
            key={name}
            name={name}
            schema={field}
            root={root}
            value={values[name]}
            isRequired={schema.required?.includes(name) === true && field.default === undefined}
            onChange={(next) => {
              const { [name]: _, ...others } = values;
              onChange(next === undefined ? others : { ...others, [name]: next });
            }}
          />
        ))}
    </div>
  );
}

/** A form for a value of a JSON schema. Parts that the schema doesn't describe are edited as JSON. */
export function SchemaForm({ schema, value, onChange, omit }: Props) {
  const root = resolve(schema, schema);
  if (!root.properties) return <JsonField value={value} onChange={onChange} label={root.title ?? 'Value'} />;
  return <Fields schema={root} root={schema} value={value} onChange={onChange} omit={omit} />;
}
