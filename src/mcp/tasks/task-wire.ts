import {
  type CallToolResult,
  type ClientCapabilities,
  type InputRequest,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type Transport,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/**
 * The tasks extension of revision 2026-07-28 on the wire, which the SDK has no server side for.
 * @see https://modelcontextprotocol.io/seps/2663-tasks-extension
 */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

export type TaskStatus = 'working' | 'input_required' | 'completed' | 'failed' | 'cancelled';

export interface TaskEnvelope {
  taskId: string;
  status: TaskStatus;
  statusMessage?: string;
  /** ISO 8601. */
  createdAt: string;
  lastUpdatedAt: string;
  /** Milliseconds after creation for which the task can be read at least. */
  ttlMs: number;
  pollIntervalMs: number;
}

/** The answer to a call that has become a task. To the SDK it is a tool's result, with a content that isn't sent. */
export interface CreateTaskResult extends TaskEnvelope {
  resultType: 'task';
  content: [];
  [field: string]: unknown;
}

/** A task as it is read. */
export interface DetailedTask extends TaskEnvelope {
  inputRequests?: Record<string, InputRequest>;
  result?: CallToolResult;
  error?: { code: number; message: string };
  [field: string]: unknown;
}

export const taskParams = z.looseObject({ taskId: z.string() });
export type TaskParams = z.infer<typeof taskParams>;

export function declaresTasks(capabilities: ClientCapabilities | undefined): boolean {
  const { extensions } = (capabilities ?? {}) as { extensions?: Record<string, unknown> };
  return extensions !== undefined && Object.hasOwn(extensions, TASKS_EXTENSION);
}

export function tasksRequired(): MissingRequiredClientCapabilityError {
  return new MissingRequiredClientCapabilityError(
    { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } },
    `This needs a client that declares the extension ${TASKS_EXTENSION}`,
  );
}

export function unknownTask(taskId: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown task: ${taskId}`);
}

/** Takes out of the answers of a server what the SDK adds to every result of a tool, for those that are tasks. */
export function sendTasksPlainly(transport: Transport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const result = 'result' in message ? message.result : undefined;
    if (result?.resultType !== 'task') return send(message, options);
    const { content: _, ...task } = result;
    return send({ ...message, result: task } as typeof message, options);
  };
}
