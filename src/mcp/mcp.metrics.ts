import { Injectable } from '@nestjs/common';
import type { Counter } from 'prom-client';
import { Metrics } from '../metrics/metrics';

/** The served methods; other method names of callers must not create series. */
const METHODS = new Set([
  'initialize',
  'notifications/initialized',
  'notifications/cancelled',
  'ping',
  'server/discover',
  'tools/list',
  'tools/call',
  'tasks/get',
  'tasks/update',
  'tasks/cancel',
  'subscriptions/listen',
]);
const OTHER_METHOD = 'other';

/** `error`: a result with isError. `task`: became a task. `asked`: waits for the answer of the client's user. `gone`: the client has left. */
export type ToolOutcome = 'ok' | 'error' | 'task' | 'asked' | 'gone' | 'refused' | 'failed';

/** Metrics of MCP clients in an api. */
@Injectable()
export class McpMetrics {
  private readonly messages: Counter<'method'>;
  private readonly calls: Counter<'graph' | 'outcome'>;

  constructor(metrics: Metrics) {
    this.messages = metrics.counter({
      name: 'gantry_mcp_messages_total',
      help: 'MCP requests and notifications that came in, by method',
      labelNames: ['method'],
    });
    this.calls = metrics.counter({
      name: 'gantry_mcp_tool_calls_total',
      help: 'MCP tool calls by how they ended; error: a result with isError, task: became a task, asked: waits for an answer of the user, gone: cancelled or the connection was lost, refused: an error of the protocol, failed: an internal one',
      labelNames: ['graph', 'outcome'],
    });
  }

  received(method: string): void {
    this.messages.inc({ method: METHODS.has(method) ? method : OTHER_METHOD });
  }

  toolCalled(graph: string, outcome: ToolOutcome): void {
    this.calls.inc({ graph, outcome });
  }
}
