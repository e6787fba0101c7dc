import { memo } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { blocksOf } from './markdown-blocks';

/** Renderers of elements; a link shows its target, since its text comes from the model. */
const components: Components = {
  a: ({ href, children }) => {
    const host = href && URL.canParse(href) ? new URL(href).host : undefined;
    return (
      <a href={href} target="_blank" rel="noopener noreferrer nofollow" className="text-accent underline">
        {children}
        {host && <span className="text-xs text-muted"> ({host})</span>}
      </a>
    );
  },
  // Pictures of other hosts are named, not loaded, so that no request leaves the server.
  img: ({ src, alt }) =>
    typeof src === 'string' && src.startsWith('data:image/') ? (
      <img src={src} alt={alt ?? ''} className="max-h-96 rounded-md" />
    ) : (
      <span className="text-muted">[picture: {alt ?? String(src)}]</span>
    ),
};

const PLUGINS = [remarkGfm];
const safeUrl = (url: string): string => (/^(https?:|mailto:|data:image\/)/i.test(url) ? url : '');

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <Markdown remarkPlugins={PLUGINS} components={components} skipHtml urlTransform={safeUrl}>
      {text}
    </Markdown>
  );
});

/**
 * The text of a model as Markdown, without any HTML of its own. Each token of a stream makes a longer text, of which only
 * the last block is parsed again.
 */
export default function MarkdownView({ text }: { text: string }) {
  return (
    <div className="markdown">
      {blocksOf(text).map((block, index) => (
        <Block key={index} text={block} />
      ))}
    </div>
  );
}
