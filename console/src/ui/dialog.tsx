import { Dialog as Base } from '@base-ui/react/dialog';
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from './button';
import { ErrorBox } from './feedback';

interface Props {
  title: string;
  open: boolean;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
  /** Whether it shows what is nowhere else, such as a form that was filled in: a click beside it doesn't close it. */
  keeps?: boolean;
  /** Whether it can't be closed: what it has started would end on another page. */
  isBusy?: boolean;
}

export function Dialog({ title, open, onClose, children, wide = false, keeps = false, isBusy = false }: Props) {
  return (
    <Base.Root
      open={open}
      disablePointerDismissal={keeps}
      onOpenChange={(isOpen) => {
        if (!isOpen && !isBusy) onClose();
      }}
    >
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Base.Popup
          className={`fixed top-[8vh] left-1/2 z-50 flex max-h-[84vh] w-[calc(100vw-2rem)] -translate-x-1/2 flex-col rounded-xl border border-line bg-surface shadow-pop ${wide ? 'max-w-3xl' : 'max-w-lg'}`}
        >
          <header className="flex items-center justify-between gap-4 border-b border-line py-2.5 pr-2.5 pl-4">
            <Base.Title className="text-sm font-semibold">{title}</Base.Title>
            <Base.Close render={<IconButton icon="close" label="Close" disabled={isBusy} />} />
          </header>
          <div className="min-h-0 flex-1 overflow-auto p-4">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface ConfirmProps {
  title: string;
  /** Consequences of the action, and whether it can be undone. */
  children: ReactNode;
  action: string;
  act: () => Promise<unknown>;
  open: boolean;
  onClose: () => void;
}

/** Asks for confirmation of an action that can't be undone, and shows the server's message if it fails. */
export function Confirm({ title, children, action, act, open, onClose }: ConfirmProps) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const run = (): void => {
    setBusy(true);
    setError(undefined);
    act()
      .then(onClose, setError)
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={title} open={open} onClose={onClose} isBusy={isBusy}>
      <div className="space-y-4">
        <div className="text-soft">{children}</div>
        {error !== undefined && <ErrorBox error={error} />}
        <div className="flex justify-end gap-2">
          <Button disabled={isBusy} onClick={onClose}>
            Cancel
          </Button>
          <Button look="danger" disabled={isBusy} onClick={run}>
            {action}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
