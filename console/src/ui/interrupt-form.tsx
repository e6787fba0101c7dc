import { useState } from 'react';
import type { JsonSchema } from '../api/graph-schemas';
import { Button } from './button';
import { JsonField } from './json-editor';
import { JsonView } from './json-view';
import { SchemaForm } from './schema-form';

/** A question that a run asks, as `interrupt()` makes it. */
export interface Question {
  id?: string;
  value?: unknown;
}

/** The requests of LangChain's human-in-the-loop middleware. */
interface ActionRequest {
  name?: string;
  action?: string;
  args?: unknown;
  arguments?: unknown;
  description?: string;
}

interface KnownQuestion {
  action_requests?: ActionRequest[];
  review_configs?: { allowed_decisions?: string[] }[];
  schema?: JsonSchema;
  response_schema?: JsonSchema;
  question?: string;
}

const asKnown = (value: unknown): KnownQuestion =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

interface Props {
  question: Question;
  answer: (value: unknown) => void;
  isBusy: boolean;
}

/** Approves, rejects or edits what a run asks; anything else is answered as JSON, or by the form of its schema. */
export function InterruptForm({ question, answer, isBusy }: Props) {
  const known = asKnown(question.value);
  const request = known.action_requests?.[0];
  const schema = known.response_schema ?? known.schema;
  const [mode, setMode] = useState<'decide' | 'edit'>('decide');
  const [value, setValue] = useState<unknown>(request ? (request.args ?? request.arguments) : undefined);
  const decide = (type: 'approve' | 'reject'): void => {
    if (known.action_requests) answer({ decisions: known.action_requests.map(() => ({ type })) });
    else answer(type);
  };
  const sendEdited = (): void => {
    if (!request) return answer(value);
    const edited = { type: 'edit', edited_action: { name: request.name ?? request.action, args: value } };
    const others = known.action_requests!.slice(1).map(() => ({ type: 'approve' }));
    answer({ decisions: [edited, ...others] });
  };
  return (
    <div className="space-y-3">
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
            <Button look="primary" disabled={isBusy || value === undefined} onClick={sendEdited}>
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
    </div>
  );
}
