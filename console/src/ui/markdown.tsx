import { lazy, Suspense } from 'react';
import { Boundary } from './boundary';

const MarkdownView = lazy(() => import('./markdown-view'));

/** A text as Markdown; as plain text while the code for that is loading, and where it is nested too deeply to be rendered. */
export function MarkdownText({ text }: { text: string }) {
  const plain = (
    <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
      {text}
    </p>
  );
  return (
    <Boundary of={text} fallback={plain}>
      <Suspense fallback={plain}>
        <MarkdownView text={text} />
      </Suspense>
    </Boundary>
  );
}
