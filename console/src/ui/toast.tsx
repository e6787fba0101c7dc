import { messageOf } from '../api/failure';
import { ExternalStore, useStore } from '../app/external-store';
import { IconButton } from './button';

interface Note {
  id: number;
  text: string;
  isError: boolean;
}

const SHOWN_MS = 6_000;
const notes = new ExternalStore<Note[]>([]);
let lastId = 0;

const forget = (id: number): void => notes.set(notes.get().filter((note) => note.id !== id));

function show(text: string, isError: boolean): void {
  const id = ++lastId;
  notes.set([...notes.get(), { id, text, isError }]);
  if (!isError) setTimeout(() => forget(id), SHOWN_MS);
}

/** Shows a short success message at the edge of the page. */
export const notify = (text: string): void => show(text, false);

/** Shows the server's error message for an action until it is closed. */
export const notifyError = (error: unknown): void => show(messageOf(error), true);

export const forgetNotes = (): void => notes.set([]);

export function Notes() {
  const shown = useStore(notes);
  return (
    <div
      role="status"
      aria-live="polite"
      className="fixed right-4 bottom-4 z-[60] flex w-80 max-w-[calc(100vw-2rem)] flex-col gap-2"
    >
      {shown.map(({ id, text, isError }) => (
        <div
          key={id}
          className={`flex items-start gap-2 rounded-lg border bg-surface py-2 pr-1.5 pl-3 shadow-pop ${isError ? 'border-bad/50 text-bad' : 'border-line'}`}
        >
          <p className="min-w-0 flex-1 py-1 break-words">{text}</p>
          <IconButton icon="close" label="Close" onClick={() => forget(id)} />
        </div>
      ))}
    </div>
  );
}
