import { useState } from 'react';
import { IconButton } from './button';

const SHOWN_MS = 1_200;

/** Copies a text. On addresses without TLS, where the browser gives no clipboard access, it selects the text instead. */
export async function copy(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isCopied, setCopied] = useState(false);
  const act = (): void => {
    void copy(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), SHOWN_MS);
    });
  };
  return <IconButton icon={isCopied ? 'check' : 'copy'} label={isCopied ? 'Copied' : label} onClick={act} />;
}

/** An id, shortened in the middle, that is copied in full. */
export function Id({ id }: { id: string }) {
  const short = id.length > 16 ? `${id.slice(0, 8)}…${id.slice(-4)}` : id;
  return (
    <span className="font-mono text-xs text-soft" title={id}>
      {short}
    </span>
  );
}
