import { lazy, Suspense } from 'react';

const MarkdownView = lazy(() => import('./markdown-view'));

export function MarkdownText({ text }: { text: string }) {
  return (
    <Suspense
      fallback={
        <p dir="auto" className="wrap-anywhere whitespace-pre-wrap">
          {text}
        </p>
      }
    >
      <MarkdownView text={text} />
    </Suspense>
  );
}
