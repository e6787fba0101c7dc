import { fieldsOf, isObject } from './fields';
import type { JsonSchema } from './json-schema';

/** A question that a run asks, as `interrupt()` makes it. Its value has whatever form the graph gives it. */
export interface Question {
  id?: string;
  value?: unknown;
  /** Schema of the answer, where the graph gives `interrupt()` one. */
  response_schema?: unknown;
}

/**
 * Questions that a thread asks. One that several tasks carry is one question. A thread whose run was stopped in the middle is
 * interrupted as well, but asks nothing.
 */
export function questionsOf(interrupts: Record<string, unknown[]> | undefined): Question[] {
  const asked = Object.values(interrupts ?? {}).flat() as Question[];
  return [...new Map(asked.map((each, index) => [each.id ?? index, each])).values()];
}

/** Whether the server asks about a node in doubt: its worker was lost, and it may or may not have taken effect. */
export const isInDoubt = ({ value }: Question): boolean => fieldsOf(value).type === 'unknown_outcome';

/** Refusal of an answer to a question that no longer waits for one. */
export const ANSWERED = 'This question no longer waits for an answer: another person or program was first.';

/** The value of `resume` that answers a question: addressed to it, so that no other question takes the answer. */
export const resumeOf = ({ id }: Question, answer: unknown): unknown => (id ? { [id]: answer } : answer);

/** Fields of the run that continues after a question. A node in doubt has asked nothing: it starts again in a run without input. */
export const continuationOf = (
  question: Question,
  answer: unknown,
): { input: null } | { command: { resume: unknown } } =>
  isInDoubt(question) ? { input: null } : { command: { resume: resumeOf(question, answer) } };

const DECISIONS = ['approve', 'edit', 'reject', 'respond'] as const;
export type DecisionType = (typeof DECISIONS)[number];
/** Decisions on an action of which the question doesn't list any. */
const USUAL: readonly DecisionType[] = ['approve', 'edit', 'reject'];

/** An action that an agent wants to take. */
export interface Action {
  name: string;
  args: unknown;
  /** Decisions that the agent accepts: it fails at any other one. */
  allowed: readonly DecisionType[];
}

/** A question of LangChain's human-in-the-loop middleware. */
export interface Review {
  actions: Action[];
  /** Returns the answer, from one decision on each action. */
  answerOf: (decisions: Decision[]) => unknown;
}

export interface Decision {
  type: DecisionType;
  edited_action?: { name: string; args: unknown };
  message?: string;
}

const textOr = (fallback: string, ...values: unknown[]): string =>
  values.find((each): each is string => typeof each === 'string') ?? fallback;

/** JavaScript agents read the names in camel case, Python ones those with underscores. */
const forBoth = (decision: Decision): object =>
  decision.edited_action ? { ...decision, editedAction: decision.edited_action } : decision;

/** The actions that a question asks to decide on; undefined for a question of another form. */
export function reviewOf({ value, response_schema: schema }: Question): Review | undefined {
  const fields = fieldsOf(value);
  // One action with a question of its own: its schema describes each decision that is allowed.
  if (fields.type === 'tool_approval' && typeof fields.name === 'string') {
    const text = JSON.stringify(schema) ?? '';
    const named = DECISIONS.filter((each) => text.includes(`"const":"${each}"`));
    const action = { name: fields.name, args: fields.args, allowed: named.length > 0 ? named : USUAL };
    return { actions: [action], answerOf: ([decision]) => decision };
  }
  const requests = fields.actionRequests ?? fields.action_requests;
  if (!Array.isArray(requests) || requests.length === 0 || !requests.every(isObject)) return undefined;
  const given = fields.reviewConfigs ?? fields.review_configs;
  const configs = Array.isArray(given) ? given.map(fieldsOf) : [];
  const actions = requests.map((request): Action => {
    const name = textOr('', request.name, request.action);
    const config = configs.find((each) => (each.actionName ?? each.action_name) === name);
    const allowed = config?.allowedDecisions ?? config?.allowed_decisions;
    return {
      name,
      args: request.args ?? request.arguments,
      allowed: Array.isArray(allowed) ? DECISIONS.filter((each) => allowed.includes(each)) : USUAL,
    };
  });
  return { actions, answerOf: (decisions) => ({ decisions: decisions.map(forBoth) }) };
}

/** The schema of the answer, where the question has one: that of `interrupt()`, or else one in its value. */
export function answerSchemaOf({ value, response_schema: outer }: Question): JsonSchema | undefined {
  const { response_schema: inner, schema } = fieldsOf(value);
  return [outer, inner, schema].find(isObject);
}

/** A line that stands for a question: the first text in it that is meant for a person, or else its JSON. */
export function summaryOf(asked: Question): string {
  const fields = fieldsOf(asked.value);
  if (isInDoubt(asked)) return `The outcome of ${textOr('a step', fields.node)} is unknown`;
  const requests = fields.actionRequests ?? fields.action_requests;
  const request = fieldsOf(
    Array.isArray(requests) ? requests[0] : fields.type === 'tool_approval' ? fields : undefined,
  );
  const texts = [asked.value, fields.question, fields.description, request.description, request.name];
  return (
    texts.find((each): each is string => typeof each === 'string' && each !== '') ?? JSON.stringify(asked.value ?? null)
  );
}
