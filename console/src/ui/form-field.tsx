import { type ReactNode, useId } from 'react';

interface FieldIds {
  id: string;
  'aria-describedby': string | undefined;
}

interface Props {
  label: string;
  /** Hint for filling in the field. */
  hint?: ReactNode;
  /** Renders the input with the ids that link it to its label and hint. */
  children: (ids: FieldIds) => ReactNode;
}

/** A labelled input. */
export function FormField({ label, hint, children }: Props) {
  const id = useId();
  const hintId = hint ? `${id}-hint` : undefined;
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children({ id, 'aria-describedby': hintId })}
      {hint && (
        <p id={hintId} className="mt-1 text-xs text-muted">
          {hint}
        </p>
      )}
    </div>
  );
}

interface TextProps {
  label: string;
  hint?: ReactNode;
  value: string;
  onChange: (value: string) => void;
  placeholder?: string;
  type?: 'text' | 'password' | 'number' | 'datetime-local' | 'date' | 'url';
  isRequired?: boolean;
  rows?: number;
}

export function TextField({ label, hint, value, onChange, placeholder, type = 'text', isRequired, rows }: TextProps) {
  const shared = { value, placeholder, required: isRequired };
  return (
    <FormField label={label} hint={hint}>
      {(ids) =>
        rows ? (
          <textarea
            {...ids}
            {...shared}
            rows={rows}
            className="field h-auto py-1.5"
            onChange={({ target }) => onChange(target.value)}
          />
        ) : (
          <input
            {...ids}
            {...shared}
            type={type}
            autoComplete="off"
            className="field"
            onChange={({ target }) => onChange(target.value)}
          />
        )
      }
    </FormField>
  );
}

interface SelectProps<Value extends string> {
  label: string;
  hint?: ReactNode;
  value: Value;
  onChange: (value: Value) => void;
  options: readonly (readonly [value: Value, text: string])[];
}

export function SelectField<Value extends string>({ label, hint, value, onChange, options }: SelectProps<Value>) {
  return (
    <FormField label={label} hint={hint}>
      {(ids) => (
        <select {...ids} className="field" value={value} onChange={({ target }) => onChange(target.value as Value)}>
          {options.map(([each, text]) => (
            <option key={each} value={each}>
              {text}
            </option>
          ))}
        </select>
      )}
    </FormField>
  );
}
