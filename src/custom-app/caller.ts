/** About this one request or its connection, and not about who makes it. */
const NOT_OF_THE_CALLER =
  /^(host|connection|keep-alive|transfer-encoding|upgrade|te|trailer|expect|range|origin|referer|pragma|cache-control|user-agent|idempotency-key|last-event-id|x-request-id|content-.+|accept.*|if-.+|sec-.+|mcp-.+|proxy-.+)$/;

/** The headers of a request by which the API, and a custom auth that reads headers of its own, know who makes it. */
export function callerOf(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !NOT_OF_THE_CALLER.test(name)));
}
