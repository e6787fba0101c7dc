import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Icon } from './icons';

const TYPING_MS = 300;

/** The row of filters above a list. */
export function Filters({ children }: { children: ReactNode }) {
  return (
    <div role="search" className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 py-2 sm:px-6">
      {children}
    </div>
  );
}

interface TextProps {
  label: string;
  value: string | undefined;
  onChange: (value: string | undefined) => void;
  placeholder?: string;
  className?: string;
  /** Says why a value is not applied; undefined for one that is. */
  problemOf?: (text: string) => string | undefined;
}

/** A text input whose value is applied after a pause in typing. */
export function TextFilter({ label, value, onChange, placeholder, className = 'w-56', problemOf }: TextProps) {
  const [text, setText] = useState(value ?? '');
  const problem = text === '' ? undefined : problemOf?.(text);
  const note = useId();
  /** Texts that the field has applied, and that are no value yet: the address takes them later than they are typed. */
  const applied = useRef<string[]>([]);
  useEffect(() => {
    const at = applied.current.indexOf(value ?? '');
    applied.current = at < 0 ? [] : applied.current.slice(at + 1);
    // A link or the history of the browser has changed the value.
    if (at < 0) setText(value ?? '');
  }, [value]);
  useEffect(() => {
    if (text === (applied.current.at(-1) ?? value ?? '')) return;
    const timer = setTimeout(() => {
      applied.current.push(text);
      onChange(text || undefined);
    }, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <label className={`relative block ${className}`}>
      <span className="sr-only">{label}</span>
      <Icon name="search" size={14} className="absolute top-[9px] left-2.5 text-muted" />
      <input
        className={`field pl-8 ${problem ? 'border-bad' : ''}`}
        value={text}
        placeholder={placeholder ?? label}
        aria-invalid={problem !== undefined}
        aria-describedby={problem && note}
        onChange={({ target }) => setText(target.value)}
      />
      {problem && (
        <span id={note} className="block text-xs text-bad">
          {problem}
        </span>
      )}
    </label>
  );
}

interface ChoiceProps {
  label: string;
  value: string | undefined;
  /** Options; a plain string is both value and label. */
  options: readonly (string | { value: string; label: string })[];
  onChange: (value: string | undefined) => void;
  /** Label of the empty choice. */
  any: string;
}

export function ChoiceFilter({ label, value, options, onChange, any }: ChoiceProps) {
  return (
    <select
      aria-label={label}
      className="field w-auto max-w-52 pr-7"
      value={value ?? ''}
      onChange={({ target }) => onChange(target.value || undefined)}
    >
      <option value="">{any}</option>
      {options.map((option) => {
        const { value: each, label: text } = typeof option === 'string' ? { value: option, label: option } : option;
        return (
          <option key={each} value={each}>
            {text}
          </option>
        );
      })}
    </select>
  );
}
