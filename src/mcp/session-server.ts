import { Server, type Transport } from '@modelcontextprotocol/server';
import { handlerError } from './mcp.errors';
import type { McpSession } from './mcp-session';
import type { McpSessionBus } from './mcp-session-bus';
import { SessionTransport } from './session-transport';
import { sendTasksPlainly } from './tasks/task-wire';

/** Serves one request of a session, if it is part of one. */
export class SessionServer extends Server {
  constructor(
    info: ConstructorParameters<typeof Server>[0],
    options: ConstructorParameters<typeof Server>[1],
    private readonly serving?: { session: McpSession; bus: McpSessionBus },
  ) {
    super(info, options);
  }

  protected override _wrapHandler(...[method, handler]: Parameters<Server['_wrapHandler']>) {
    const wrapped = super._wrapHandler(method, handler);
    return async (...asked: Parameters<typeof wrapped>) => {
      try {
        return await wrapped(...asked);
      } catch (error) {
        throw handlerError(error);
      }
    };
  }

  override async connect(transport: Transport): Promise<void> {
    if (!this.serving) {
      sendTasksPlainly(transport);
      return super.connect(transport);
    }
    const { session, bus } = this.serving;
    const wrapped = new SessionTransport(transport, session);
    const unregister = bus.register(session.id, wrapped);
    this.onclose = unregister;
    await super.connect(wrapped);
    wrapped.replayHandshake();
  }
}
