export interface KnownDifference {
  /** Lines of `differences`; `*` stands for any text. */
  differences: string[];
  /** Reason why Gantry's answer differs from the JavaScript dev server's. */
  reason: string;
}

/**
 * The differences between Gantry and the JavaScript dev server. Faults of Gantry are fixed instead of listed; where the
 * Python server or the documentation of the platform says what is right, Gantry follows that.
 */
export const KNOWN_DIFFERENCES: KnownDifference[] = [
  {
    differences: ['assistants.getSchemas .config_schema: null | –', 'assistants.getSchemas .context_schema: null | –'],
    reason: 'A graph without a schema has `null`, as in the Python server; the dev server leaves the field out',
  },
  {
    differences: ['assistants.getSchemas .state_schema.required: array | –'],
    reason: 'Names the channels that a state always has',
  },
  {
    differences: [
      'assistants.getSubgraphs *.config_schema: object | –',
      'assistants.getSubgraphs *.context_schema: object | –',
      'assistants.getSubgraphs *.input_schema: object | –',
      'assistants.getSubgraphs *.output_schema: object | –',
      'assistants.getSubgraphs *.state_schema: object | –',
    ],
    reason:
      'A nested graph has the fields of the SDK’s `GraphSchema` beside those of the dev server, which has only `input`, `output`, ' +
      '`state`, `config`',
  },
  {
    differences: [
      'assistants.getSubgraphs *.definitions: object | –',
      'assistants.getSubgraphs *.properties.messages.items.$ref: string | –',
      'assistants.getSubgraphs *.properties.messages.items.description: – | string',
      'assistants.getSubgraphs *.properties.messages.items.items: – | object',
      'assistants.getSubgraphs *.properties.messages.items.type: – | string',
    ],
    reason:
      'A message in a nested graph is described by the definition of its class; the dev server takes it for an array',
  },
  {
    differences: ['assistants.setLatest .context.b: – | number', 'assistants.setLatest .description: null | string'],
    reason:
      'The assistant becomes what it was in that version; the dev server keeps the description and context of the newest',
  },
  {
    differences: [
      'threads.* .error: null | –',
      'threads.create .interrupts: object | –',
      'threads.copy .interrupts: object | –',
      'threads.* *.state_updated_at: string | –',
      'threads.search [].context: object | –',
      'threads.search [].extracted: object | –',
      'threads.get .ttl: null | –',
    ],
    reason: 'Fields of a thread that the Python server has, and the dev server does not',
  },
  {
    differences: ['threads.* *.config.configurable.user-agent: – | string'],
    reason: 'Headers reach a run’s `configurable` as `http.configurable_headers` says, and are not kept in the thread',
  },
  {
    differences: ['threads.copy .metadata.thread_id: – | string', 'threads.copy .values: object | –'],
    reason: 'A copy has the metadata of its thread as they are, and its values at once',
  },
  {
    differences: ['threads.getState .interrupts: array | –', 'threads.getHistory [].interrupts: array | –'],
    reason: 'A field of the SDK’s `ThreadState` that the dev server lacks',
  },
  {
    differences: [
      'threads.get* *metadata.langgraph_*: – | string',
      'threads.get* *metadata.ls_integration: – | string',
      'threads.get* *metadata.user-agent: – | string',
      'threads.get* *metadata.revision_id: string | –',
    ],
    reason: 'Metadata of a checkpoint that each server adds by itself',
  },
  {
    differences: [
      'threads.getHistory [].checkpoint_id: string | –',
      'threads.getHistory [].parent_checkpoint_id: * | –',
    ],
    reason: 'Deprecated fields that the Python server has; older clients read them',
  },
  {
    differences: [
      'threads.getState .checkpoint: – | object',
      'threads.getState .parent_checkpoint: – | object',
      'threads.getState .created_at: – | string',
      'threads.getState .metadata: – | object',
      'threads.getState .next: – | array',
      'threads.getState .tasks: – | array',
      'threads.getState .values: – | object',
    ],
    reason: 'The dev server does not know `select`, and answers with everything',
  },
  {
    differences: ['threads.getState status: 200 | 400'],
    reason: 'The dev server takes `subgraphs` in a body as text only, and the SDK sends a boolean',
  },
  {
    differences: ['threads.getHistory status: 200 | 400'],
    reason: 'The dev server takes `before` as an id only, and the SDK sends the configuration that its types ask for',
  },
  {
    differences: ['threads.updateState .checkpoint_id: string | –', 'threads.updateState .configurable: object | –'],
    reason: 'The Python server’s answer has them',
  },
  {
    differences: ['threads.patchState status: 405 | 404'],
    reason: 'Neither serves it; 405 is what the Python server answers',
  },
  {
    differences: [
      'threads.joinStream status: 200 | 404',
      'threads.joinStream events: metadata | –',
      'threads.joinStream event *',
    ],
    reason: 'The dev server has no stream of a thread',
  },
  {
    differences: [
      'crons.create* status: 200 | 400',
      'crons.* status: 200 | 404',
      'crons.search status: 200 | 500',
      'crons.delete status: 204 | 500',
    ],
    reason: 'The dev server has no crons',
  },
  { differences: ['store.searchItems .items[].score: null | –'], reason: 'A field of the SDK’s `SearchItem`' },
  {
    differences: ['runs.* *.cancel_reason: null | –', 'runs.* *.langsmith_session_name: null | –'],
    reason: 'Fields that the newest SDKs select; the dev server does not know them',
  },
  {
    differences: [
      'runs.* *.kwargs.durability: string | –',
      'runs.* *.kwargs.on_completion: string | –',
      'runs.create* *.kwargs.strict_resume: boolean | –',
    ],
    reason: 'Parameters of a run that the dev server does not keep',
  },
  {
    differences: [
      'runs.* *.kwargs.checkpoint: object | –',
      'runs.* *.kwargs.config.configurable.checkpoint_id: – | string',
    ],
    reason: 'The checkpoint that a run starts from is kept as it was sent; the dev server adds it to `configurable`',
  },
  {
    differences: ['runs.* *.kwargs.config.configurable.a: number | –'],
    reason: '`context` is in `configurable` as well, where graphs of older libraries read it, as in the Python server',
  },
  {
    differences: ['runs.* *.kwargs.config.configurable.user-agent: – | string'],
    reason: 'Headers reach a run’s `configurable` as `http.configurable_headers` says, and no answer shows them',
  },
  {
    differences: ['runs.create* *.kwargs.input: null | –'],
    reason: 'A run without input has `null`, as in the Python server; the dev server leaves the field out',
  },
  {
    differences: [
      'runs.createBatch [].kwargs.feedback_keys: array | –',
      'runs.createBatch [].kwargs.interrupt_after: array | –',
      'runs.createBatch [].kwargs.interrupt_before: array | –',
    ],
    reason: 'The SDK sends the runs of a batch with the names of JavaScript, which the dev server ignores',
  },
  {
    differences: ['runs.list [].kwargs.feedback_keys: array | –'],
    reason:
      'A run with feedback keys fails in the dev server without an account of LangSmith, so it is not among the successful',
  },
  {
    differences: [
      'runs.* *.metadata.revision_id: string | –',
      'runs.createBatch [].*metadata.assistant_id: string | –',
      'runs.createBatch [].*metadata.graph_id: string | –',
    ],
    reason: 'Every run is marked with its revision, assistant and graph, those of a batch too, as in the Python server',
  },
  {
    differences: [
      'runs.stream GET /threads/{thread_id}/runs/{run_id}: sent | –',
      'runs.joinStream GET /threads/{thread_id}/runs/{run_id}: sent | –',
    ],
    reason:
      'A stream has a `Location` where it can be joined again, as with the Python server. No server sends an event `end`, so the SDK ' +
      'asks there at its end whether the run is over; the dev server names no place',
  },
  {
    differences: [
      'runs.stream events: metadata values* | metadata checkpoints*',
      'runs.stream event checkpoints: – | object',
    ],
    reason: 'The dev server emits checkpoints that no stream mode asked for once `stream_subgraphs` is set',
  },
  {
    differences: ['runs.stream event feedback: object | –', 'runs.stream event error: – | object'],
    reason: 'The dev server gets links for feedback from LangSmith, and fails the stream without an account there',
  },
  {
    differences: ['runs.stream event metadata.answered_interrupts: array | –'],
    reason: 'Names the questions that the run answers',
  },
  {
    differences: ['runs.cancel status: 200 | 204'],
    reason: 'A cancellation that waits answers as the Python server does',
  },
  { differences: ['runs.cancelMany status: 204 | 404'], reason: 'The dev server does not cancel several runs at once' },
  { differences: ['threads.prune status: 200 | 404'], reason: 'The dev server does not prune' },
  {
    differences: ['assistants.delete status: 204 | 200'],
    reason: 'Nothing is left to answer with, as in the Python server',
  },
];

/** Whether a line of `differences` fits a pattern of the table. */
export function matches(pattern: string, line: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(line);
}
