import type { ClientCapabilities, InputRequest } from '@modelcontextprotocol/server';
import { isJsonObject } from '../database/json';
import { parseJson } from '../http/json-limits';

/** An interrupt as a run's result has it. */
export interface Interrupt {
  id?: string;
  value?: unknown;
}

/** The question of an interrupt to the client, and the conversion of its answers for the graph. */
export interface Question {
  requests: Record<string, InputRequest>;
  /** @returns undefined when a person declined */
  toResume(responses: Record<string, unknown>): Resume | undefined;
}

/** `resume` answers the interrupt; `restart` continues the thread without an answer. */
export type Resume = { kind: 'resume'; id: string; value: unknown } | { kind: 'restart' };

interface ElicitResponse {
  action: 'accept' | 'decline' | 'cancel';
  content?: Record<string, unknown>;
}

const ANSWER = 'answer';

/** The questions of a run's interrupts, in their order. The keys of all their requests are different. */
export function toQuestions(interrupts: Interrupt[]): Question[] {
  return interrupts.map(({ id, value }, index) => {
    const key = id ?? `interrupt_${index + 1}`;
    const record = isJsonObject(value) ? value : undefined;
    if (record && isJsonObject(record.inputRequests)) {
      const prefix = interrupts.length > 1 ? `${key}/` : '';
      return ownRequests(key, record.inputRequests as Record<string, InputRequest>, prefix);
    }
    if (record && isReview(record)) return review(key, record);
    if (record?.type === 'unknown_outcome') return unknownOutcome(key, record);
    return freeAnswer(key, value);
  });
}

/** Only what the client can answer; all of it when it can answer nothing, so that the protocol's error names what lacks. */
export function answerable(
  requests: Record<string, InputRequest>,
  capabilities: ClientCapabilities | undefined,
): Record<string, InputRequest> {
  const able = Object.entries(requests).filter(([, request]) => isAble(request, capabilities));
  return able.length > 0 ? Object.fromEntries(able) : requests;
}

export function isAble({ method }: InputRequest, capabilities: ClientCapabilities | undefined): boolean {
  if (method === 'elicitation/create') return capabilities?.elicitation !== undefined;
  if (method === 'sampling/createMessage') return capabilities?.sampling !== undefined;
  return capabilities?.roots !== undefined;
}

/** Whether a response has the shape of an answer to the request; if not, it is requested again. */
export function isAnswer(request: InputRequest, response: unknown): boolean {
  if (!isJsonObject(response)) return false;
  if (request.method === 'roots/list') return Array.isArray(response.roots);
  if (request.method === 'sampling/createMessage') return response.content !== undefined;
  return response.action === 'decline' || response.action === 'cancel' || isAccepted(response, request.params);
}

function isAccepted({ action, content }: Record<string, unknown>, params: Record<string, unknown>): boolean {
  if (action !== 'accept') return false;
  const schema = params.requestedSchema;
  if (!isJsonObject(schema)) return true;
  const required = Array.isArray(schema.required) ? (schema.required as string[]) : [];
  return isJsonObject(content) && required.every((key) => key in content);
}

/** Values with which the run resumes; every response serves one question only. */
export function resumeOf(
  questions: Question[],
  responses: Record<string, unknown>,
  capabilities: ClientCapabilities | undefined,
): Resume[] | 'unanswered' | 'declined' {
  const resume: Resume[] = [];
  const used: string[] = [];
  for (const question of questions) {
    const answers = Object.entries(answerable(question.requests, capabilities));
    if (!answers.every(([key, request]) => isAnswer(request, responses[key]))) return 'unanswered';
    const given = question.toResume(Object.fromEntries(answers.map(([key]) => [key, responses[key]])));
    if (!given) return 'declined';
    used.push(...answers.map(([key]) => key));
    resume.push(given);
  }
  for (const key of used) delete responses[key];
  return resume;
}

/**
 * The graph speaks the protocol itself: its requests go out as they are, and it gets the responses by their keys.
 * @param prefix of the keys on the wire, since interrupts of several nodes may have the same ones
 */
function ownRequests(id: string, requests: Record<string, InputRequest>, prefix: string): Question {
  return {
    requests: renamed(requests, (key) => prefix + key),
    toResume: (responses) => ({ kind: 'resume', id, value: renamed(responses, (key) => key.slice(prefix.length)) }),
  };
}

function renamed<T>(record: Record<string, T>, rename: (key: string) => string): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [rename(key), value]));
}

/** Any other value: a person reads it and writes the answer. */
function freeAnswer(id: string, value: unknown): Question {
  const requests = {
    [id]: form(textOf(value), {
      [ANSWER]: { type: 'string', title: 'Answer', description: 'Text, or JSON when the agent expects it' },
    }),
  };
  return {
    requests,
    toResume: (responses) => {
      const content = acceptedContent(responses[id]);
      return content && { kind: 'resume', id, value: parseAnswer(content[ANSWER]) };
    },
  };
}

/** `true`, `false` and `null`, objects and lists are meant as such; digits may be a telephone number. */
function parseAnswer(answer: unknown): unknown {
  if (typeof answer !== 'string' || !/^\s*([[{]|true\s*$|false\s*$|null\s*$)/.test(answer)) return answer;
  try {
    return parseJson(answer);
  } catch {
    // Text that only begins like JSON, or exceeds the limits of JSON.
    return answer;
  }
}

interface ReviewRequest {
  actionRequests: { name: string; args?: unknown; description?: string }[];
  reviewConfigs?: { actionName: string; allowedDecisions?: string[] }[];
}

function isReview(value: Record<string, unknown>): value is Record<string, unknown> & ReviewRequest {
  if (!Array.isArray(value.actionRequests)) return false;
  const { actionRequests, reviewConfigs = [] } = value as typeof value & ReviewRequest;
  return actionRequests.every(({ name }) => decisionsOn(name, reviewConfigs).length > 0);
}

/** Editing needs a form of the action's own; approving and rejecting don't. */
function decisionsOn(action: string, reviewConfigs: ReviewRequest['reviewConfigs'] = []): string[] {
  const allowed = reviewConfigs.find(({ actionName }) => actionName === action)?.allowedDecisions;
  return (allowed ?? ['approve', 'reject']).filter((decision) => decision !== 'edit');
}

/** LangChain's human-in-the-loop middleware: a decision for each action that the agent wants to take. */
function review(id: string, { actionRequests, reviewConfigs }: ReviewRequest): Question {
  const properties = actionRequests.flatMap(({ name }, index) => [
    [`decision_${index + 1}`, { type: 'string', title: `Decision on ${name}`, enum: decisionsOn(name, reviewConfigs) }],
    [`message_${index + 1}`, { type: 'string', title: 'Why, when it is not approved' }],
  ]) as [string, unknown][];
  const message = actionRequests
    .map(({ name, args, description }) => description ?? `${name}(${JSON.stringify(args ?? {})})`)
    .join('\n\n');
  const required = actionRequests.map((_, index) => `decision_${index + 1}`);
  return {
    requests: { [id]: form(message, Object.fromEntries(properties), required) },
    toResume: (responses) => {
      const content = acceptedContent(responses[id]);
      if (!content) return undefined;
      const decisions = actionRequests.map((_, index) => {
        const note = content[`message_${index + 1}`];
        return { type: content[`decision_${index + 1}`], ...(typeof note === 'string' && note && { message: note }) };
      });
      return { kind: 'resume', id, value: { decisions } };
    },
  };
}

/** A worker was lost while it executed a node that must not be repeated without asking. */
function unknownOutcome(id: string, value: Record<string, unknown>): Question {
  const requests = {
    [id]: form(textOf(value), { start_again: { type: 'boolean', title: 'Start it again', default: false } }, [
      'start_again',
    ]),
  };
  return {
    requests,
    toResume: (responses) => (acceptedContent(responses[id])?.start_again === true ? { kind: 'restart' } : undefined),
  };
}

function form(message: string, properties: Record<string, unknown>, required = Object.keys(properties)): InputRequest {
  const requestedSchema = { type: 'object', properties, required };
  return { method: 'elicitation/create', params: { mode: 'form', message, requestedSchema } } as InputRequest;
}

function acceptedContent(response: unknown): Record<string, unknown> | undefined {
  const { action, content } = response as ElicitResponse;
  return action === 'accept' ? (content ?? {}) : undefined;
}

/** Text for a person: the sentence in the value, if it has one, and the rest of it. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'The agent waits for an answer';
  const key = ['message', 'question', 'description'].find((name) => typeof value[name] === 'string');
  if (key === undefined) return JSON.stringify(value);
  const { [key]: sentence, ...rest } = value;
  return Object.keys(rest).length > 0 ? `${String(sentence)}\n\n${JSON.stringify(rest)}` : String(sentence);
}
