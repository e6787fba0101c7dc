/**
 * @library @hono/node-server 1.19.19
 * @patch Gives each of its responses an `init`, in its own class, which it puts in place of Node's.
 * @why A response that is made from one without an `init` throws, and Hono makes the answer to each HEAD from that to a GET.
 * @upstream Solved in @hono/node-server 2, which @hono/node-ws of @langchain/langgraph-api does not accept.
 * @remove With the update to version 2.
 */

/** Patch for the class of responses that the library has put in place when it made a server. */
export function initializeResponses(): void {
  const Own = globalThis.Response;
  class InitializedResponse extends Own {
    constructor(body?: ConstructorParameters<typeof Own>[0], init: ResponseInit = {}) {
      super(body, init);
    }
  }
  Object.defineProperty(globalThis, 'Response', { value: InitializedResponse });
}
