import { jsonProblem } from './json-editor';

/** The JSON object that a text is; undefined for any other text. */
export const objectOf = (text: string | undefined): object | undefined =>
  text?.trim().startsWith('{') && jsonProblem(text) === undefined ? (JSON.parse(text) as object) : undefined;

/** Says why a text is no JSON object; undefined for one that is. */
export const problemOfObject = (text: string): string | undefined =>
  objectOf(text) ? undefined : (jsonProblem(text) ?? 'Write a JSON object: {"key": "value"}');
