import { lazy, Suspense, useState } from 'react';

const CodeEditor = lazy(() => import('./code-editor'));

interface Props {
  /** Text of the JSON, which may be invalid while it is edited. */
  text: string;
  onChange: (text: string) => void;
  label: string;
  placeholder?: string;
}

/** Syntax error of a text as JSON; undefined for valid or empty text. */
export function jsonProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Edits JSON as text, and shows its syntax error under it. A form around it can't be submitted while there is one. */
export function JsonEditor({ text, onChange, label, placeholder }: Props) {
  const problem = jsonProblem(text);
  return (
    <div className="relative">
      <div
        className={`max-h-96 overflow-hidden rounded-md border bg-surface ${problem ? 'border-bad' : 'border-strong-line'}`}
      >
        <Suspense fallback={<div className="h-9" />}>
          <CodeEditor value={text} onChange={onChange} label={label} placeholder={placeholder} />
        </Suspense>
      </div>
      {problem && (
        <>
          <p className="mt-1 text-xs text-bad">{problem}</p>
          {/* The editor is no form control: this one carries its error to the form, and the browser's message points at it. */}
          <input
            ref={(input) => input?.setCustomValidity(problem)}
            aria-label="Syntax error"
            tabIndex={-1}
            className="pointer-events-none absolute inset-x-0 bottom-0 h-px opacity-0"
          />
        </>
      )}
    </div>
  );
}

/** Edits a value as JSON text, and calls back whenever the text is valid. */
export function JsonField({
  value,
  onChange,
  label,
}: {
  value: unknown;
  onChange: (value: unknown) => void;
  label: string;
}) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)));
  const change = (next: string): void => {
    setText(next);
    if (jsonProblem(next) === undefined) onChange(next.trim() === '' ? undefined : JSON.parse(next));
  };
  return <JsonEditor text={text} onChange={change} label={label} />;
}
