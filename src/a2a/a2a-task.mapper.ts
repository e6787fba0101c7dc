import { Artifact, Message, Role, type Task, TaskState, type TaskStatus, type Part } from '@a2a-js/sdk';
import { v5 as uuidv5 } from 'uuid';
import { tailorParts, textPart } from './a2a-content';
import type { TaskPhase, TaskRow } from './a2a-tasks.repository';

/** Names instead of values, which would load the library at the start of every process. */
const STATE_NAMES: Record<TaskPhase, keyof typeof TaskState> = {
  submitted: 'TASK_STATE_SUBMITTED',
  working: 'TASK_STATE_WORKING',
  'input-required': 'TASK_STATE_INPUT_REQUIRED',
  completed: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  canceled: 'TASK_STATE_CANCELED',
  rejected: 'TASK_STATE_REJECTED',
};

export const taskStateOf = (phase: TaskPhase): TaskState => TaskState[STATE_NAMES[phase]];

export const phaseOf = (state: TaskState): TaskPhase | undefined =>
  (Object.keys(STATE_NAMES) as TaskPhase[]).find((phase) => taskStateOf(phase) === state);

export const isTaskInFlight = ({ state }: TaskRow): boolean => state === 'submitted' || state === 'working';
export const isTerminal = (row: TaskRow): boolean => !isTaskInFlight(row) && row.state !== 'input-required';

/** A message of the agent. Its id is derived from the occasion, so that a repetition is the same message. */
export function taskMessage(
  { taskId, contextId }: Pick<TaskRow, 'taskId' | 'contextId'>,
  role: Role,
  occasion: string,
  parts: Part[],
): Message {
  return {
    messageId: uuidv5(occasion, taskId),
    contextId,
    taskId,
    role,
    parts,
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

export function parseMessages(texts: string[]): Message[] {
  return texts.map((text) => Message.fromJSON(JSON.parse(text)));
}

/** The artifacts in the forms that the client of the latest turn accepts. */
export function artifactsOf({ artifacts, outputModes }: TaskRow): Artifact[] {
  return (JSON.parse(artifacts) as unknown[])
    .map((artifact) => Artifact.fromJSON(artifact))
    .map((artifact) => ({ ...artifact, parts: tailorParts(artifact.parts, outputModes) }));
}

/** @param question the agent's last question, shown while it waits for the answer */
export function statusOf(row: TaskRow, question?: Message): TaskStatus {
  return {
    state: taskStateOf(row.state),
    message: statusMessage(row, question),
    timestamp: row.statusAt.toISOString(),
  };
}

function statusMessage(row: TaskRow, question: Message | undefined): Message | undefined {
  if (row.state === 'input-required' && question) {
    return { ...question, parts: tailorParts(question.parts, row.outputModes) };
  }
  if (row.state === 'rejected') {
    return taskMessage(row, Role.ROLE_AGENT, `${row.runId}/rejected`, [textPart(row.error?.message ?? '')]);
  }
  if (row.state === 'failed') {
    const { error, message } = row.error ?? { error: 'Error', message: 'The run failed' };
    return taskMessage(row, Role.ROLE_AGENT, `${row.runId}/failed`, [textPart(`${error}: ${message}`)]);
  }
  if (row.state === 'canceled' && row.superseded) {
    return taskMessage(row, Role.ROLE_AGENT, `${row.runId}/superseded`, [
      textPart('The conversation continued without an answer to this task'),
    ]);
  }
  return undefined;
}

/** Key in a task's metadata of its ids in the rest of the API. */
export const RUN_EXTENSION = 'urn:gantry:a2a:run:1';

function runMetadata({ assistantId, threadId, runId }: TaskRow): Record<string, unknown> {
  return { [RUN_EXTENSION]: { assistantId, threadId, runId } };
}

/** The answer of a task that has ended as a message alone, for a client that is to see no task. */
export function toReply(row: TaskRow): Message {
  const parts = artifactsOf(row).flatMap((artifact) => artifact.parts);
  const reply = taskMessage(row, Role.ROLE_AGENT, `${row.runId}/reply`, parts);
  return { ...reply, taskId: '', metadata: runMetadata(row) };
}

export interface TaskView {
  /** All messages that are to be shown; the last of the agent's is the question of a waiting task. */
  messages: Message[];
  question?: Message;
  withArtifacts: boolean;
}

export function toTask(row: TaskRow, { messages, question, withArtifacts }: TaskView): Task {
  return {
    id: row.taskId,
    contextId: row.contextId,
    status: statusOf(row, question),
    artifacts: withArtifacts ? artifactsOf(row) : [],
    history: messages,
    metadata: runMetadata(row),
  };
}

export const lastOfAgent = (messages: Message[]): Message | undefined =>
  messages.filter(({ role }) => role === Role.ROLE_AGENT).at(-1);
