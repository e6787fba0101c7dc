import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useDeferredValue, useId, useRef, useState } from 'react';
import { filterProblem } from './traces-api';

/** The words of the filter language: docs/traces.md describes it. */
const WORDS = [
  'and(',
  'or(',
  'not(',
  'eq(',
  'neq(',
  'gt(',
  'gte(',
  'lt(',
  'lte(',
  'like(',
  'in(',
  'has(',
  'search(',
  'exists(',
  'name',
  'run_type',
  'status',
  'error',
  'start_time',
  'end_time',
  'latency',
  'first_token_time',
  'total_tokens',
  'prompt_tokens',
  'completion_tokens',
  'total_cost',
  'is_root',
  'tags',
  'thread_id',
  'trace_id',
  'id',
  'metadata_key',
  'metadata_value',
  'input_key',
  'input_value',
  'output_key',
  'output_value',
  'feedback_key',
  'feedback_score',
];
const SHOWN = 8;

/** The word that ends at the caret; none inside a quoted text. */
function wordAt(text: string, caret: number): string {
  const before = text.slice(0, caret);
  const isInText = (before.match(/"/g)?.length ?? 0) % 2 === 1;
  return isInText ? '' : (/[a-z_]+$/i.exec(before)?.[0] ?? '');
}

/** A filter input with completion, and the server's validation error under it. */
export function FilterInput({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const [caret, setCaret] = useState(0);
  const [marked, setMarked] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const checked = useDeferredValue(text.trim());
  const problem = useQuery({
    queryKey: ['traces', 'filter-problem', checked],
    queryFn: async () => (await filterProblem(checked)) ?? null,
    enabled: checked !== '',
    staleTime: Infinity,
  }).data;

  const word = isOpen ? wordAt(text, caret) : '';
  const matches = word === '' ? [] : WORDS.filter((each) => each.startsWith(word) && each !== word).slice(0, SHOWN);
  const take = (chosen: string): void => {
    const start = caret - word.length;
    const next = text.slice(0, start) + chosen + text.slice(caret);
    setText(next);
    setOpen(false);
    requestAnimationFrame(() => input.current?.setSelectionRange(start + chosen.length, start + chosen.length));
  };
  const press = (event: KeyboardEvent): void => {
    if (matches.length === 0) {
      if (event.key === 'Enter') {
        event.preventDefault();
        onChange(text.trim());
      }
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setMarked((marked + step + matches.length) % matches.length);
    else if (event.key === 'Enter' || event.key === 'Tab') take(matches[Math.min(marked, matches.length - 1)]);
    else if (event.key === 'Escape') {
      // It closes the suggestions alone, and not the dialog that they are in.
      event.stopPropagation();
      setOpen(false);
    } else return;
    event.preventDefault();
  };
  return (
    <div className="relative min-w-0 flex-1">
      <input
        ref={input}
        role="combobox"
        aria-label="Filter"
        aria-expanded={matches.length > 0}
        aria-controls={id}
        aria-autocomplete="list"
        aria-activedescendant={matches.length > 0 ? `${id}-${marked}` : undefined}
        aria-invalid={Boolean(problem)}
        spellCheck={false}
        autoComplete="off"
        placeholder='Filter, such as and(eq(status, "error"), gt(latency, "5s"))'
        className={`field font-mono text-xs ${problem ? 'border-bad' : ''}`}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setCaret(target.selectionStart ?? target.value.length);
          setMarked(0);
          setOpen(true);
        }}
        onKeyDown={press}
        onBlur={() => {
          setOpen(false);
          onChange(text.trim());
        }}
      />
      {matches.length > 0 && (
        <ul
          id={id}
          role="listbox"
          aria-label="Words of the filter language"
          className="absolute z-30 mt-1 w-56 rounded-lg border border-line bg-surface p-1 font-mono text-xs shadow-pop"
        >
          {matches.map((each, index) => (
            <li
              key={each}
              id={`${id}-${index}`}
              role="option"
              aria-selected={index === marked}
              className={`rounded-md px-2 py-1 ${index === marked ? 'bg-hover' : ''}`}
              onMouseDown={(event) => {
                event.preventDefault();
                take(each);
              }}
            >
              {each}
            </li>
          ))}
        </ul>
      )}
      {problem && (
        <p role="alert" className="mt-1 text-xs text-bad">
          {problem}
        </p>
      )}
    </div>
  );
}
