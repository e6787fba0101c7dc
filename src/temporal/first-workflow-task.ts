import { defaultPayloadConverter } from '@temporalio/common';
import type { ConnectionLike, WorkflowService } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

const { COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION } = temporal.api.enums.v1.CommandType;
const { WORKFLOW_TASK_FAILED_CAUSE_UNSPECIFIED } = temporal.api.enums.v1.WorkflowTaskFailedCause;

type StartRequest = temporal.api.workflowservice.v1.IStartWorkflowExecutionRequest;

/**
 * First task of a workflow that this process started: the server returned it with the start instead of putting it into the task
 * queue. No worker has the workflow until the task is handed back or times out. An answer rejects when the task is no longer this
 * process's, or a request to the workflow, such as its cancellation, has arrived since: a worker has it then.
 */
export class FirstWorkflowTask {
  constructor(
    private readonly service: WorkflowService,
    private readonly namespace: string,
    private readonly taskToken: Uint8Array,
  ) {}

  /** Ends the workflow with its result. */
  async complete(result: unknown): Promise<void> {
    const completion = { result: { payloads: [defaultPayloadConverter.toPayload(result)] } };
    await this.service.respondWorkflowTaskCompleted({
      namespace: this.namespace,
      taskToken: this.taskToken,
      commands: [
        {
          commandType: COMMAND_TYPE_COMPLETE_WORKFLOW_EXECUTION,
          completeWorkflowExecutionCommandAttributes: completion,
        },
      ],
    });
  }

  /** Lets a worker of the workflow's task queue begin it. A task that was answered otherwise would be part of its history. */
  async handBack(reason: string): Promise<void> {
    await this.service.respondWorkflowTaskFailed({
      namespace: this.namespace,
      taskToken: this.taskToken,
      cause: WORKFLOW_TASK_FAILED_CAUSE_UNSPECIFIED,
      failure: { message: reason, source: 'Gantry' },
    });
  }
}

/**
 * A connection that asks for the first task of each workflow that is started over it. The SDK's client asks for it only on behalf
 * of a worker of its own.
 * @param onTask called with the token of a task that the server returned
 */
export function takingFirstTasks<C extends ConnectionLike>(connection: C, onTask: (token: Uint8Array) => void): C {
  const service = connection.workflowService;
  const start = async (request: StartRequest) => {
    const response = await service.startWorkflowExecution({ ...request, requestEagerExecution: true });
    const token = response.eagerWorkflowTask?.taskToken;
    if (token?.length) onTask(token);
    return response;
  };
  const workflowService = Object.create(service, { startWorkflowExecution: { value: start } }) as WorkflowService;
  return Object.create(connection, { workflowService: { value: workflowService } }) as C;
}
