import type { CallToolResult } from '@modelcontextprotocol/server';
import { isJsonObject } from '../database/json';
import type { RunEnd } from '../streams/run-event';
import type { AssistantTool } from './mcp-tools.service';
import type { Interrupt } from './questions';
import { toToolError, toToolResult } from './tool-result';
import { pickOutput } from './tool-schemas';

/** Result of a call whose run has ended so. @param knowsStructure whether the client reads structured content */
export function toCallResult(
  { schemas, mcp }: AssistantTool,
  { status, result }: RunEnd,
  knowsStructure: boolean,
): CallToolResult {
  const error = errorOf(result);
  if (error) return toToolError(`${error.error}: ${error.message}`);
  if (status !== 'success') return toToolError(`The run was ended before it was done (${status})`);
  const output = pickOutput(isJsonObject(result) ? result : { result }, schemas.output);
  const checked = schemas.checkOutput?.(output);
  if (checked?.valid === false) {
    return toToolError(
      `The graph's output is not what its schema says (${checked.errorMessage}): ${JSON.stringify(output)}`,
    );
  }
  return toToolResult(output, { knowsStructure, textIsAnswer: mcp.text === 'answer' });
}

export function errorOf(result: unknown): { error: string; message: string } | undefined {
  return isJsonObject(result) ? (result.__error__ as { error: string; message: string } | undefined) : undefined;
}

export function interruptsOf({ result }: RunEnd): Interrupt[] {
  return isJsonObject(result) && Array.isArray(result.__interrupt__) ? (result.__interrupt__ as Interrupt[]) : [];
}
