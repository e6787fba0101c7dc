import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { ApiError } from '../../http/api-error';
import type { TenantId } from '../../auth/tenant';
import { shownError } from '../mcp.errors';
import type { McpTasksService, TaskCaller } from './mcp-tasks.service';
import { type DetailedTask, taskParams, type TaskParams, unknownTask } from './task-wire';

/** Lets a server of revision 2026-07-28 answer the methods of the tasks extension. */
export function serveTasks(server: Server, tenantId: TenantId, tasks: McpTasksService): void {
  const answering =
    (work: (caller: TaskCaller, params: TaskParams, context: ServerContext) => Promise<DetailedTask | void>) =>
    async (params: TaskParams, context: ServerContext): Promise<Record<string, unknown>> => {
      try {
        return (await work({ tenantId, capabilities: server.getClientCapabilities() }, params, context)) ?? {};
      } catch (error) {
        if (error instanceof ApiError && error.status < 500) throw unknownTask(params.taskId);
        throw shownError(error);
      }
    };
  server.setRequestHandler(
    'tasks/get',
    { params: taskParams },
    answering((caller, { taskId }, context) => tasks.getTask(caller, taskId, context)),
  );
  server.setRequestHandler(
    'tasks/update',
    { params: taskParams },
    // The SDK takes the responses out of the parameters, as it does where a call itself has asked.
    answering((caller, { taskId }, context) =>
      tasks.updateTask(caller, taskId, { ...context.mcpReq.inputResponses }, context),
    ),
  );
  server.setRequestHandler(
    'tasks/cancel',
    { params: taskParams },
    answering((caller, { taskId }) => tasks.cancelTask(caller, taskId)),
  );
}
