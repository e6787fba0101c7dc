import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, keymap, placeholder as placeholderOf } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'react';

interface Props {
  value: string;
  onChange?: (value: string) => void;
  /** Label for screen readers. */
  label: string;
  placeholder?: string;
  readOnly?: boolean;
}

const look = EditorView.theme({
  '&': { fontSize: '12px', color: 'var(--color-ink)', backgroundColor: 'transparent', maxHeight: 'inherit' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.25rem', overflow: 'auto' },
  '.cm-content': { padding: '8px 0', caretColor: 'var(--color-ink)' },
  '.cm-line': { padding: '0 10px' },
  '.cm-placeholder': { color: 'var(--color-muted)' },
  '.cm-cursor': { borderLeftColor: 'var(--color-ink)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--color-accent-soft)' },
});

const colors = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--color-soft)' },
  { tag: tags.string, color: 'var(--color-good)' },
  { tag: tags.number, color: 'var(--color-busy)' },
  { tag: [tags.bool, tags.null], color: 'var(--color-wait)' },
]);

/** Edits JSON. It is in a shadow root, where its style sheets are constructed ones, which the page's policy permits. */
export default function CodeEditor({ value, onChange, label, placeholder = '', readOnly = false }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const changed = useRef(onChange);
  changed.current = onChange;
  const first = useRef(value);

  useEffect(() => {
    const element = place.current!;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open', delegatesFocus: true });
    const editable = new Compartment();
    const editor = new EditorView({
      root,
      parent: root as unknown as Element,
      state: EditorState.create({
        doc: first.current,
        extensions: [
          history(),
          keymap.of([...defaultKeymap, ...historyKeymap]),
          json(),
          indentOnInput(),
          bracketMatching(),
          look,
          syntaxHighlighting(colors),
          placeholderOf(placeholder),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': label }),
          editable.of([EditorState.readOnly.of(readOnly), EditorView.editable.of(!readOnly)]),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) changed.current?.(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, [label, placeholder, readOnly]);

  useEffect(() => {
    const editor = view.current;
    if (!editor || editor.state.doc.toString() === value) return;
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: value } });
  }, [value]);

  return <div ref={place} className="max-h-[inherit] min-h-9 overflow-auto" />;
}
