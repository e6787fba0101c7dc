import { type FormEvent, useState } from 'react';
import { Boundary } from './boundary';
import { Button } from './button';
import { JsonField } from './json-editor';
import { JsonView } from './json-view';
import { answerSchemaOf, type Question, requestsOf } from './questions';
import { SchemaForm } from './schema-form';

interface Props {
  question: Question;
  answer: (value: unknown) => void;
  isBusy: boolean;
}

/**
 * Approves, rejects or edits what a run asks; anything else is answered as JSON, or by the form of its schema. A question that
 * can't be rendered is replaced by the error alone.
 */
export function InterruptForm(props: Props) {
  return (
    <Boundary of={props.question}>
      <QuestionForm {...props} />
    </Boundary>
  );
}

function QuestionForm({ question, answer, isBusy }: Props) {
  const requests = requestsOf(question);
  const request = requests?.[0];
  const schema = answerSchemaOf(question);
  const [mode, setMode] = useState<'decide' | 'edit'>('decide');
  const [value, setValue] = useState<unknown>(request ? (request.args ?? request.arguments) : undefined);
  const decide = (type: 'approve' | 'reject'): void => {
    answer(requests ? { decisions: requests.map(() => ({ type })) } : type);
  };
  const sendEdited = (event: FormEvent): void => {
    event.preventDefault();
    if (!request) return answer(value);
    const edited = { type: 'edit', edited_action: { name: request.name ?? request.action, args: value } };
    const others = requests!.slice(1).map(() => ({ type: 'approve' }));
    answer({ decisions: [edited, ...others] });
  };
  return (
    <form onSubmit={sendEdited} className="space-y-3">
      <div className="rounded-md border border-line bg-surface p-3">
        {typeof question.value === 'string' ? <p>{question.value}</p> : <JsonView value={question.value} />}
      </div>
      {(mode === 'edit' || schema) && (
        <div className="space-y-2">
          <p className="caps">Answer</p>
          {schema ? (
            <SchemaForm schema={schema} value={value} onChange={setValue} />
          ) : (
            <JsonField value={value} onChange={setValue} label="Answer as JSON" />
          )}
        </div>
      )}
      <div className="flex flex-wrap gap-2">
        {mode === 'edit' || schema ? (
          <>
            <Button type="submit" look="primary" disabled={isBusy || value === undefined}>
              Send the answer
            </Button>
            {!schema && <Button onClick={() => setMode('decide')}>Back</Button>}
          </>
        ) : (
          <>
            <Button look="primary" icon="check" disabled={isBusy} onClick={() => decide('approve')}>
              Approve
            </Button>
            <Button icon="edit" disabled={isBusy} onClick={() => setMode('edit')}>
              {request ? 'Edit' : 'Answer'}
            </Button>
            <Button look="danger" icon="close" disabled={isBusy} onClick={() => decide('reject')}>
              Reject
            </Button>
          </>
        )}
      </div>
    </form>
  );
}
