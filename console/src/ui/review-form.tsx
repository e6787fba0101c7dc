import { type FormEvent, useState } from 'react';
import { Button } from './button';
import { JsonField } from './json-editor';
import type { Action, Decision, DecisionType, Review } from './questions';

const LABELS: Record<DecisionType, string> = {
  approve: 'Approve',
  edit: 'Edit its arguments',
  reject: 'Reject',
  respond: 'Answer in its place',
};

/** A decision that is being made on one action. */
interface Draft {
  type: DecisionType | undefined;
  args: unknown;
  message: string;
}

const isMade = ({ type, args, message }: Draft): boolean =>
  type === 'edit' ? args !== undefined : type === 'respond' ? message !== '' : type !== undefined;

function decisionOf({ name }: Action, { type, args, message }: Draft): Decision {
  if (type === 'edit') return { type, edited_action: { name, args } };
  return { type: type!, ...(type !== 'approve' && message && { message }) };
}

interface DecisionFieldsProps {
  action: Action;
  draft: Draft;
  onChange: (draft: Draft) => void;
}

function DecisionFields({ action, draft, onChange }: DecisionFieldsProps) {
  return (
    <fieldset className="space-y-2 rounded-md border border-line bg-surface p-3">
      <legend className="px-1 font-mono text-xs">{action.name}</legend>
      <select
        aria-label={`Decision on ${action.name}`}
        className="field w-auto pr-7"
        value={draft.type ?? ''}
        onChange={({ target }) => onChange({ ...draft, type: (target.value || undefined) as DecisionType | undefined })}
      >
        <option value="">Choose a decision</option>
        {action.allowed.map((each) => (
          <option key={each} value={each}>
            {LABELS[each]}
          </option>
        ))}
      </select>
      {draft.type === 'edit' && (
        <JsonField
          value={draft.args}
          onChange={(args) => onChange({ ...draft, args })}
          label={`Arguments of ${action.name}`}
        />
      )}
      {(draft.type === 'reject' || draft.type === 'respond') && (
        <input
          aria-label={draft.type === 'reject' ? `Why ${action.name} is rejected` : `Answer in place of ${action.name}`}
          placeholder={draft.type === 'reject' ? 'Why (optional)' : 'Answer'}
          className="field"
          value={draft.message}
          onChange={({ target }) => onChange({ ...draft, message: target.value })}
        />
      )}
    </fieldset>
  );
}

interface Props {
  review: Review;
  answer: (value: unknown) => void;
  isBusy: boolean;
}

/** Decides on all actions of a review at once, or on each of them. Decisions that the agent doesn't accept aren't offered. */
export function ReviewForm({ review: { actions, answerOf }, answer, isBusy }: Props) {
  const [first] = actions;
  const isEdit = actions.length === 1 && first.allowed.includes('edit');
  const [isOpen, setOpen] = useState(false);
  const [drafts, setDrafts] = useState(() =>
    actions.map(({ args }): Draft => ({ type: isEdit ? 'edit' : undefined, args, message: '' })),
  );
  const isAllowed = (type: DecisionType): boolean => actions.every(({ allowed }) => allowed.includes(type));
  const decide = (type: DecisionType): void => answer(answerOf(actions.map(() => ({ type }))));
  const send = (event: FormEvent): void => {
    event.preventDefault();
    answer(answerOf(actions.map((action, index) => decisionOf(action, drafts[index]))));
  };
  if (!isOpen) {
    return (
      <div className="flex flex-wrap gap-2">
        {isAllowed('approve') && (
          <Button look="primary" icon="check" data-key="a" disabled={isBusy} onClick={() => decide('approve')}>
            {actions.length === 1 ? 'Approve' : 'Approve all'}
          </Button>
        )}
        <Button icon="edit" data-key="e" disabled={isBusy} onClick={() => setOpen(true)}>
          {isEdit ? 'Edit' : actions.length === 1 ? 'Decide' : 'Decide on each'}
        </Button>
        {isAllowed('reject') && (
          <Button look="danger" icon="close" data-key="r" disabled={isBusy} onClick={() => decide('reject')}>
            {actions.length === 1 ? 'Reject' : 'Reject all'}
          </Button>
        )}
      </div>
    );
  }
  return (
    <form onSubmit={send} className="space-y-3">
      {actions.map((action, index) => (
        <DecisionFields
          key={index}
          action={action}
          draft={drafts[index]}
          onChange={(draft) => setDrafts((before) => before.with(index, draft))}
        />
      ))}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" disabled={isBusy || !drafts.every(isMade)}>
          Send the answer
        </Button>
        <Button onClick={() => setOpen(false)}>Back</Button>
      </div>
    </form>
  );
}
