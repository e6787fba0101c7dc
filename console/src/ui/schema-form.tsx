import { type ReactNode, useId } from 'react';
import { Button, IconButton } from './button';
import { fieldsOf } from './fields';
import { JsonField } from './json-editor';
import { type JsonSchema, resolve, typeOf } from './json-schema';

interface Props {
  schema: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Fields that are not shown. */
  omit?: string[];
}

/** Depth from which nested objects are edited as JSON: their number may grow with each level. */
const MAX_DEPTH = 4;

/** Types whose form is one field. */
const SIMPLE: ReadonlySet<string | undefined> = new Set(['string', 'number', 'integer', 'boolean']);

const LONG_TEXT = /prompt|instruction|template|description/i;

/** The schema that a form is for, and the place in it that a part of the form shows. */
interface Place {
  root: JsonSchema;
  depth: number;
  /** Names of the definitions that the place is inside of. */
  refs: readonly string[];
}

interface FieldProps {
  name: string;
  schema: unknown;
  place: Place;
  value: unknown;
  onChange: (value: unknown) => void;
  isRequired: boolean;
}

function Field({ name, schema, place, value, onChange, isRequired }: FieldProps) {
  const id = useId();
  const { schema: field, refs } = resolve(schema, place.root, place.refs);
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
        // A number, since React would replace the text "0." by that of another string before the next digit is typed.
        value={typeof value === 'number' ? value : ''}
        placeholder={shownDefault}
        onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
      />,
    );
  }
  if (type === 'object' && field.properties && place.depth < MAX_DEPTH) {
    return (
      <fieldset className="rounded-md border border-line p-3">
        <legend className="px-1 font-medium">{field.title ?? name}</legend>
        {about}
        <Fields schema={field} place={{ ...place, depth: place.depth + 1, refs }} value={value} onChange={onChange} />
      </fieldset>
    );
  }
  const itemType = type === 'array' ? typeOf(resolve(field.items, place.root, refs).schema) : undefined;
  if (itemType && ['string', 'number', 'integer'].includes(itemType)) {
    const list = Array.isArray(value) ? (value as unknown[]) : [];
    const isNumber = itemType !== 'string';
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
                step={itemType === 'number' ? 'any' : undefined}
                value={isNumber ? (typeof each === 'number' ? each : '') : String(each)}
                onChange={({ target: { value: text } }) =>
                  // A number that is deleted is none: it is refused where the schema requires one.
                  onChange(list.with(index, isNumber ? (text === '' ? null : Number(text)) : text))
                }
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

function Fields({ schema, place, value, onChange, omit = [] }: Props & { place: Place }) {
  const values = fieldsOf(value);
  return (
    <div className="space-y-4">
      {Object.entries(schema.properties ?? {})
        .filter(([name]) => !omit.includes(name))
        .map(([name, field]) => (
          <Field
            key={name}
            name={name}
            schema={field}
            place={place}
            value={values[name]}
            isRequired={schema.required?.includes(name) === true && fieldsOf(field).default === undefined}
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
  const { schema: top, refs } = resolve(schema, schema);
  const place = { root: schema, depth: 0, refs };
  if (!top.properties && (top.enum || SIMPLE.has(typeOf(top)))) {
    return (
      <Field name="Value" schema={schema} place={{ ...place, refs: [] }} value={value} onChange={onChange} isRequired />
    );
  }
  if (!top.properties) return <JsonField value={value} onChange={onChange} label={top.title ?? 'Value'} />;
  return <Fields schema={top} place={place} value={value} onChange={onChange} omit={omit} />;
}
