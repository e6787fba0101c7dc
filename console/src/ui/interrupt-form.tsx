import { Link } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { Boundary } from './boundary';
import { Button } from './button';
import { fieldsOf } from './fields';
import { JsonField } from './json-editor';
import { initialOf, type JsonSchema } from './json-schema';
import { JsonView } from './json-view';
import { answerSchemaOf, isInDoubt, type Question, reviewOf } from './questions';
import { ReviewForm } from './review-form';
import { SchemaForm } from './schema-form';

interface AnswerProps {
  answer: (value: unknown) => void;
  isBusy: boolean;
}

interface Props extends AnswerProps {
  question: Question;
  /** Thread that asks. */
  threadId: string;
}

/**
 * Approves, rejects or edits what a run asks; anything else is answered as JSON, or by the form of its schema. A question that
 * can't be rendered is replaced by the error alone.
 */
export function InterruptForm(props: Props) {
  return (
    <Boundary of={props.question}>
      {isInDoubt(props.question) ? <DoubtForm {...props} /> : <QuestionForm {...props} />}
    </Boundary>
  );
}

/** Starts a node again whose outcome is unknown. It has asked nothing, so that there is nothing to approve or to reject. */
function DoubtForm({ question, threadId, answer, isBusy }: Props) {
  const { message } = fieldsOf(question.value);
  return (
    <div className="space-y-3">
      {typeof message === 'string' && <p>{message}</p>}
      <p>
        If it took effect, write its result as this node into the{' '}
        <Link to={`/threads/${threadId}`} search={{ tab: 'checkpoints' } as never} className="text-accent underline">
          newest state
        </Link>{' '}
        instead.
      </p>
      <Button look="primary" icon="retry" disabled={isBusy} onClick={() => answer(undefined)}>
        Start it again
      </Button>
    </div>
  );
}

function QuestionForm({ question, answer, isBusy }: Props) {
  const review = reviewOf(question);
  const schema = answerSchemaOf(question);
  return (
    <div className="space-y-3">
      <div className="rounded-md border border-line bg-surface p-3">
        {typeof question.value === 'string' ? <p>{question.value}</p> : <JsonView value={question.value} />}
      </div>
      {review ? (
        <ReviewForm review={review} answer={answer} isBusy={isBusy} />
      ) : (
        <AnswerForm schema={schema} answer={answer} isBusy={isBusy} />
      )}
    </div>
  );
}

interface AnswerFormProps extends AnswerProps {
  schema: JsonSchema | undefined;
}

/** Answers by the form of a schema. Without one, it approves or rejects with these words, or answers as JSON. */
function AnswerForm({ schema, answer, isBusy }: AnswerFormProps) {
  const [isOpen, setOpen] = useState(schema !== undefined);
  const [value, setValue] = useState<unknown>(() => schema && initialOf(schema));
  const send = (event: FormEvent): void => {
    event.preventDefault();
    answer(value);
  };
  if (!isOpen) {
    return (
      <div className="flex flex-wrap gap-2">
        <Button look="primary" icon="check" data-key="a" disabled={isBusy} onClick={() => answer('approve')}>
          Approve
        </Button>
        <Button icon="edit" data-key="e" disabled={isBusy} onClick={() => setOpen(true)}>
          Answer
        </Button>
        <Button look="danger" icon="close" data-key="r" disabled={isBusy} onClick={() => answer('reject')}>
          Reject
        </Button>
      </div>
    );
  }
  return (
    <form onSubmit={send} className="space-y-3">
      <div className="space-y-2">
        <p className="caps">Answer</p>
        {schema ? (
          <SchemaForm schema={schema} value={value} onChange={setValue} />
        ) : (
          <JsonField value={value} onChange={setValue} label="Answer as JSON" />
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" disabled={isBusy || value === undefined}>
          Send the answer
        </Button>
        {!schema && <Button onClick={() => setOpen(false)}>Back</Button>}
      </div>
    </form>
  );
}
