import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from './button';
import { Dialog } from './dialog';
import { ErrorBox } from './feedback';

interface Props {
  title: string;
  /** Label of the submit button. */
  action: string;
  /** Submits the form. An error that it throws is shown, and the dialog stays open. */
  submit: () => Promise<unknown>;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

/** A form in a dialog, closed once the server has accepted it. */
export function FormDialog({ title, action, submit, onClose, children, wide }: Props) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const send = (event: FormEvent): void => {
    event.preventDefault();
    setBusy(true);
    setError(undefined);
    submit()
      .then(onClose, setError)
      .finally(() => setBusy(false));
  };
  return (
    <Dialog title={title} open onClose={onClose} wide={wide} keeps isBusy={isBusy}>
      <form onSubmit={send} className="space-y-4">
        {children}
        {error !== undefined && <ErrorBox error={error} />}
        <div className="flex justify-end gap-2">
          <Button disabled={isBusy} onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" look="primary" disabled={isBusy}>
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
