import { lazy, Suspense, useState } from 'react';

const CodeEditor = lazy(() => import('./code-editor'));

interface Props {
  /** Text of the JSON; it may be wrong while it is edited. */
  text: string;
  onChange: (text: string) => void;
  label: string;
  placeholder?: string;
}

/** What is wrong about a text as JSON; undefined when nothing is, or when it is empty. */
export function jsonProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Edits JSON as text, and says under it what is wrong. */
export function JsonEditor({ text, onChange, label, placeholder }: Props) {
  const problem = jsonProblem(text);
  return (
    <div>
      <div
        className={`max-h-96 overflow-hidden rounded-md border bg-surface ${problem ? 'border-bad' : 'border-strong-line'}`}
      >
        <Suspense fallback={<div className="h-9" />}>
          <CodeEditor value={text} onChange={onChange} label={label} placeholder={placeholder} />
        </Suspense>
      </div>
      {problem && <p className="mt-1 text-xs text-bad">{problem}</p>}
    </div>
  );
}

/** The same for a value: calls back whenever the text is valid. */
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
