import { Logger } from '@nestjs/common';
import { ProtocolError, ProtocolErrorCode, SdkError } from '@modelcontextprotocol/server';
import { z } from 'zod';

const logger = new Logger('Mcp');

/** The part of an error that a client may see: the SDK would show the text of any error. */
export function shownError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  logger.error({ err: error }, 'An MCP request failed unexpectedly');
  return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
}

const issuesSchema = z
  .array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() }))
  .min(1);

/**
 * An error of a handler as the protocol has it. The SDK throws what its schemas say of wrong parameters as a plain error whose
 * message is the list of issues, and answers that with an internal error.
 */
export function handlerError(error: unknown): unknown {
  if (!(error instanceof Error) || isOfProtocol(error)) return error;
  const issues = issuesSchema.safeParse(jsonOrUndefined(error.message));
  if (!issues.success) return shownError(error);
  const sentences = issues.data.map(({ path, message }) => `${path.join('.')}: ${message}`);
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params: ${sentences.join('; ')}`);
}

/** Whether the SDK made the error, or its call was aborted: many others have a code as well, such as those of the database. */
const isOfProtocol = (error: Error): boolean =>
  error instanceof ProtocolError || error instanceof SdkError || error instanceof DOMException;

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
