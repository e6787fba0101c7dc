import { ApiError } from './api-error';

/** Limits of a client's JSON text. */
export interface JsonLimits {
  /** Lists and objects inside each other. */
  depth: number;
  /** Brackets, commas and colons outside of strings: about one for each value and each name. */
  tokens: number;
}

/** Depth to which all code that handles a value can recurse: schemas, mappers, Postgres, LangGraph, clients. */
const MAX_DEPTH = 200;

/** Processing this many takes one or two tenths of a second, during which the process answers no other request. */
export const BODY_LIMITS: JsonLimits = { depth: MAX_DEPTH, tokens: 500_000 };

/** Vectors in traces are long lists of numbers: the largest batch of LangSmith's clients (20 MB) has about two million. */
export const TRACE_LIMITS: JsonLimits = { depth: MAX_DEPTH, tokens: 5_000_000 };

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
/** `[` and `]`; `{` and `}` are these with BRACE_BIT. */
const OPEN = 0x5b;
const CLOSE = 0x5d;
const BRACE_BIT = 0x20;
/** Characters of a string that are read one by one before its end is searched. */
const NEAR = 64;

/**
 * Refuses JSON that exceeds the limits, in one pass over the text and before objects are created. Invalid JSON may pass, since
 * the parser reports it.
 * @param path of the text in the request, for the error
 * @returns how many tokens it has
 * @throws {ApiError} 422
 */
export function checkJson(
  text: string,
  { depth: maxDepth, tokens: maxTokens }: JsonLimits = BODY_LIMITS,
  path = '',
): number {
  let depth = 0;
  let tokens = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) {
      index = endOfString(text, index);
      continue;
    }
    const bracket = code & ~BRACE_BIT;
    if (bracket === OPEN) {
      depth += 1;
      if (depth > maxDepth) throw tooDeep(maxDepth, path, index);
    } else if (bracket === CLOSE) {
      depth -= 1;
      continue;
    } else if (code !== COMMA && code !== COLON) {
      continue;
    }
    tokens += 1;
    if (tokens > maxTokens) throw tooManyTokens(maxTokens, path, index);
  }
  return tokens;
}

/**
 * JSON.parse for what a client wrote, wherever it comes from.
 * @throws {ApiError} 422 for what costs too much
 * @throws {SyntaxError} for what isn't JSON
 */
export function parseJson(text: string, limits?: JsonLimits): unknown {
  checkJson(text, limits);
  return JSON.parse(text);
}

/** Position of the quote that ends the string that begins at `start`; the end of the text when there is none. */
function endOfString(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length) {
    // Most strings are short, and a search costs more than a few steps.
    const near = Math.min(index + NEAR, text.length);
    while (index < near) {
      const code = text.charCodeAt(index);
      if (code === QUOTE) return index;
      index += code === BACKSLASH ? 2 : 1;
    }
    const quote = text.indexOf('"', index);
    if (quote === -1) return text.length;
    if (!isEscaped(text, quote, index)) return quote;
    index = quote + 1;
  }
  return text.length;
}

/** @param from where no escape is under way */
function isEscaped(text: string, position: number, from: number): boolean {
  let first = position;
  while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (position - first) % 2 === 1;
}

function tooDeep(depth: number, path: string, position: number): ApiError {
  return refusal('json_too_deep', `JSON may be nested ${depth} levels deep, and this is deeper`, path, position);
}

function tooManyTokens(tokens: number, path: string, position: number): ApiError {
  const message = `JSON may have ${tokens} brackets, commas and colons outside of strings here, and this has more`;
  return refusal('json_too_wide', message, path, position);
}

function refusal(code: string, problem: string, path: string, position: number): ApiError {
  const message = `${problem} (character ${position + 1})`;
  return new ApiError(422, code, path === '' ? message : `${path}: ${message}`, {
    errors: [{ path, message, position }],
  });
}
