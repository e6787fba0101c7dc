import { fieldsOf, isObject } from './fields';
import type { JsonSchema } from './json-schema';

/** A question that a run asks, as `interrupt()` makes it. Its value has whatever form the graph gives it. */
export interface Question {
  id?: string;
  value?: unknown;
}

/**
 * Questions that a thread asks. One that several tasks carry is one question. A thread whose run was stopped in the middle is
 * interrupted as well, but asks nothing.
 */
export function questionsOf(interrupts: Record<string, unknown[]> | undefined): Question[] {
  const asked = Object.values(interrupts ?? {}).flat() as Question[];
  return [...new Map(asked.map((each, index) => [each.id ?? index, each])).values()];
}

/** The value of `resume` that answers a question: addressed to it, so that no other question takes the answer. */
export const resumeOf = ({ id }: Question, answer: unknown): unknown => (id ? { [id]: answer } : answer);

/** A request of LangChain's human-in-the-loop middleware. */
export interface ActionRequest {
  name?: string;
  action?: string;
  args?: unknown;
  arguments?: unknown;
}

/** The actions that a question asks to decide on; undefined for a question of another form. */
export function requestsOf({ value }: Question): ActionRequest[] | undefined {
  const { action_requests: requests } = fieldsOf(value);
  return Array.isArray(requests) && requests.every(isObject) ? requests : undefined;
}

/** The schema of the answer, where the question has one. */
export function answerSchemaOf({ value }: Question): JsonSchema | undefined {
  const { response_schema: responseSchema, schema } = fieldsOf(value);
  return [responseSchema, schema].find(isObject);
}

/** A line that stands for a question: the first text in it that is meant for a person, or else its JSON. */
export function summaryOf({ value }: Question): string {
  const { question, description, action_requests: requests } = fieldsOf(value);
  const request = fieldsOf(Array.isArray(requests) ? requests[0] : undefined);
  const texts = [value, question, description, request.description, request.name];
  return texts.find((each) => typeof each === 'string') ?? JSON.stringify(value ?? null);
}
