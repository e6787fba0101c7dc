import { type ChangeEvent, type FormEvent, type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { Button, IconButton } from '../../ui/button';
import { type Fields, fieldsOf } from '../../ui/fields';
import type { JsonSchema } from '../../ui/json-schema';
import { SchemaForm } from '../../ui/schema-form';

interface Attachment {
  name: string;
  type: string;
  /** Content of the file in base64. */
  data: string;
}

async function read(file: File): Promise<Attachment> {
  const url = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error ?? new Error('The file could not be read'));
    reader.readAsDataURL(file);
  });
  return { name: file.name, type: file.type || 'application/octet-stream', data: url.slice(url.indexOf(',') + 1) };
}

/** Pictures and files in the form of content blocks that LangChain's models accept. */
const blockOf = ({ name, type, data }: Attachment): object =>
  type.startsWith('image/')
    ? { type: 'image_url', image_url: { url: `data:${type};base64,${data}` } }
    : { type: 'file', source_type: 'base64', mime_type: type, data, metadata: { filename: name } };

/** Text and files that have not been sent. */
interface Draft {
  text: string;
  files: Attachment[];
}
const NOTHING: Draft = { text: '', files: [] };
/** A draft that was not accepted, before what has been entered since. */
const joined = (first: Draft, second: Draft): Draft => ({
  text: [first.text, second.text].filter(Boolean).join('\n\n'),
  files: [...first.files, ...second.files],
});
const hasContent = ({ text, files }: Draft): boolean => text.trim() !== '' || files.length > 0;

interface Props {
  /** Whether the graph takes messages. Other graphs get a form for their input. */
  isChat: boolean;
  schema: JsonSchema | undefined;
  isRunning: boolean;
  /** Resolves to whether the server has accepted the input. */
  send: (input: Fields) => Promise<boolean>;
  stop: () => void;
  beside: ReactNode;
}

export function Composer({ isChat, schema, isRunning, send, stop, beside }: Props) {
  const [draft, setDraft] = useState(NOTHING);
  const [input, setInput] = useState<Fields>({});
  const picker = useRef<HTMLInputElement>(null);
  const { text, files } = draft;
  const canSend = isChat ? hasContent(draft) : true;

  const sendMessage = async (): Promise<void> => {
    const content = files.length === 0 ? text : [...(text ? [{ type: 'text', text }] : []), ...files.map(blockOf)];
    setDraft(NOTHING);
    if (await send({ messages: [{ type: 'human', content }] })) return;
    setDraft((since) => joined(draft, since));
  };
  const submit = (event?: FormEvent): void => {
    event?.preventDefault();
    if (canSend) void (isChat ? sendMessage() : send(input));
  };
  const attach = async ({ target }: ChangeEvent<HTMLInputElement>): Promise<void> => {
    const chosen = await Promise.all([...(target.files ?? [])].map(read));
    target.value = '';
    setDraft((before) => ({ ...before, files: [...before.files, ...chosen] }));
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      submit();
    }
  };

  return (
    <form onSubmit={submit} className="shrink-0 border-t border-line px-4 py-3 sm:px-6">
      <div className="mx-auto max-w-3xl">
        {files.length > 0 && (
          <ul className="mb-2 flex flex-wrap gap-2">
            {files.map((file, index) => (
              <li key={index} className="flex items-center gap-1 rounded-md bg-hover py-0.5 pl-2 text-xs">
                {file.name}
                <IconButton
                  icon="close"
                  label={`Remove ${file.name}`}
                  onClick={() => setDraft({ text, files: files.toSpliced(index, 1) })}
                />
              </li>
            ))}
          </ul>
        )}
        {isChat ? (
          <textarea
            aria-label="Message"
            placeholder="Message"
            dir="auto"
            rows={2}
            className="field h-auto resize-none py-2"
            value={text}
            onChange={({ target }) => setDraft({ text: target.value, files })}
            onKeyDown={onKey}
          />
        ) : (
          <div className="max-h-72 overflow-auto">
            <SchemaForm schema={schema ?? {}} value={input} onChange={(value) => setInput(fieldsOf(value))} />
          </div>
        )}
        <div className="mt-2 flex items-center gap-3">
          {isChat && (
            <>
              <input
                ref={picker}
                type="file"
                multiple
                aria-label="Files"
                className="sr-only"
                tabIndex={-1}
                onChange={(event) => void attach(event)}
              />
              <IconButton icon="attach" label="Attach pictures or files" onClick={() => picker.current?.click()} />
            </>
          )}
          {beside}
          <div className="ml-auto flex gap-2">
            {isRunning && (
              <Button look="danger" icon="stop" onClick={stop}>
                Stop
              </Button>
            )}
            <Button type="submit" look="primary" icon="send" disabled={!canSend}>
              {isChat ? 'Send' : 'Run'}
            </Button>
          </div>
        </div>
      </div>
    </form>
  );
}
