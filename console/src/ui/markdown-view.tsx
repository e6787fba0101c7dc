import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

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

/** The text of a model as Markdown, without any HTML of its own. */
export default function MarkdownView({ text }: { text: string }) {
  return (
    <div className="markdown">
      <Markdown
        remarkPlugins={[remarkGfm]}
        components={components}
        skipHtml
        urlTransform={(url) => (/^(https?:|mailto:|data:image\/)/i.test(url) ? url : '')}
      >
        {text}
      </Markdown>
    </div>
  );
}
