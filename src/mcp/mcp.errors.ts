import { Logger } from '@nestjs/common';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';

const logger = new Logger('Mcp');

/** The part of an error that a client may see: the SDK would show the text of any error. */
export function shownError(error: unknown): ProtocolError {
  if (error instanceof ProtocolError) return error;
  logger.error({ err: error }, 'An MCP request failed unexpectedly');
  return new ProtocolError(ProtocolErrorCode.InternalError, 'Internal error');
}
