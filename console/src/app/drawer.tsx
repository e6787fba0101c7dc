import { Dialog } from '@base-ui/react/dialog';
import { Navigation } from './navigation';

/** The navigation of narrow screens, over the page. */
export default function Drawer({ onClose }: { onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-black/40" />
        <Dialog.Popup className="fixed inset-y-0 left-0 z-50 shadow-pop outline-none">
          <Dialog.Title className="sr-only">Navigation</Dialog.Title>
          <Navigation onNavigate={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
