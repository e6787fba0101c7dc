import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { describedPath, routesOf } from '../support/routes';
import { registerNamespace } from '../support/temporal';
import {
  type Call,
  destinationBody,
  exportBody,
  ghostOf,
  mcp,
  multipart,
  possessionFor,
  type Possessions,
  rpc,
  say,
  TenantCaller,
} from '../support/two-tenants';

const ADMIN_KEY = 'the-admin-key-0123456789';
/** An answer that isn't complete by then is a stream. */
const STREAM_MS = 1_500;
/** The first list of tools waits for the schemas of the graphs, with a sign of life meanwhile. */
const MCP_MS = 20_000;

/** @param of whose things are asked for; @param own those of the one who asks */
type MakeCall = (of: Possessions, own: Possessions) => Call;

type Case =
  /**
   * A resource of another tenant gets the answer of one that doesn't exist: same status and text. Its owner gets another
   * answer.
   */
  | { kind: 'hidden'; call: MakeCall; status: number; isVisible: boolean; mixes: boolean }
  /** A 404, although an unknown resource would be created. */
  | { kind: 'refused'; call: MakeCall }
  /** The answer names resources of the caller, and of no other tenant. */
  | { kind: 'lists'; call: MakeCall }
  /** Ids are separate for each tenant here: the same id is another resource, and the other tenant's stays unchanged. */
  | { kind: 'own'; call: MakeCall }
  /** The token in the address shows its resource, and nothing else of its tenant. */
  | { kind: 'link' }
  /** Deletes everything of every tenant. */
  | { kind: 'open'; call: MakeCall }
  | { kind: 'operator' };

const nothing: MakeCall = () => ({});
const hidden = (
  call: MakeCall = nothing,
  { status = 404, isVisible = true, mixes = true }: { status?: number; isVisible?: boolean; mixes?: boolean } = {},
): Case => ({ kind: 'hidden', call, status, isVisible, mixes });
const refused = (call: MakeCall): Case => ({ kind: 'refused', call });
const lists = (call: MakeCall = nothing): Case => ({ kind: 'lists', call });
const own = (call: MakeCall): Case => ({ kind: 'own', call });
const open = (call: MakeCall = nothing): Case => ({ kind: 'open', call });
const operator: Case = { kind: 'operator' };
const link: Case = { kind: 'link' };

const body =
  (value: unknown): MakeCall =>
  () => ({ body: value });
const byMarker: MakeCall = ({ marker }) => ({ body: { metadata: { marker } } });
/** Empty, as for a name that no tenant uses. */
const empty = { status: 200 };
const ofThread: MakeCall = ({ thread_id }) => ({ body: { thread_id } });
const sayParams = (): object => (say({}).body as { params: object }).params;
const later = { assistant_id: 'three', after_seconds: 3600 };
const ofAssistant: MakeCall = ({ assistant_id }) => ({ body: { ...later, assistant_id } });
const traced = ({ trace, marker }: Possessions): object => ({
  id: trace,
  name: 'of somebody else',
  run_type: 'chain',
  start_time: new Date().toISOString(),
  session_name: marker,
});

/** Requests of another tenant to every operation of the API. */
const CASES: Record<string, Case | Case[]> = {
  'GET /': open(),
  'GET /ok': open(),
  'GET /ready': open(),
  'GET /info': open(),
  'GET /metrics': open(),
  'GET /system/findings': operator,
  'GET /.well-known/oauth-protected-resource': open(),
  'GET /.well-known/oauth-protected-resource/mcp': open(),
  'GET /api/v1/me': own(nothing),

  // Components are the deployment's, as its graphs are.
  'POST /ui/{agent}': open(body({ name: 'weather' })),
  'GET /ui/{agent}/{basename}': open(),

  'POST /admin/tenants': operator,
  'GET /admin/tenants': operator,
  'GET /admin/tenants/{tenant_id}': operator,
  'PATCH /admin/tenants/{tenant_id}': operator,
  'POST /admin/keys': operator,
  'GET /admin/keys': operator,
  'DELETE /admin/keys/{key_id}': operator,
  'GET /admin/audit': operator,

  'POST /assistants': own(({ assistant_id }) => ({ body: { graph_id: 'talk', assistant_id } })),
  'POST /assistants/search': [lists(body({ limit: 1000 })), hidden(byMarker, empty)],
  'POST /assistants/count': hidden(byMarker, empty),
  'GET /assistants/{assistant_id}': hidden(),
  'PATCH /assistants/{assistant_id}': hidden(body({ name: 'mine' })),
  'DELETE /assistants/{assistant_id}': hidden(),
  'GET /assistants/{assistant_id}/graph': hidden(),
  'GET /assistants/{assistant_id}/schemas': hidden(),
  'GET /assistants/{assistant_id}/subgraphs': hidden(),
  'GET /assistants/{assistant_id}/subgraphs/{namespace}': hidden(),
  'POST /assistants/{assistant_id}/versions': hidden(body({})),
  'POST /assistants/{assistant_id}/latest': hidden(body({ version: 1 })),

  'POST /threads': [
    own(({ thread_id }) => ({ body: { thread_id } })),
    own(({ thread_id }) => ({ body: { thread_id, if_exists: 'do_nothing' } })),
  ],
  'POST /threads/search': [
    lists(body({ limit: 1000 })),
    hidden(byMarker, empty),
    hidden(({ thread_id }) => ({ body: { ids: [thread_id] } }), empty),
    hidden(({ marker }) => ({ body: { values: { done: [marker] } } }), empty),
  ],
  'POST /threads/count': hidden(byMarker, empty),
  'POST /threads/prune': (['delete', 'keep_latest'] as const).map((strategy) =>
    // Not tried by the owner: the thread is needed.
    hidden(({ thread_id }) => ({ body: { thread_ids: [thread_id], strategy } }), { status: 200, isVisible: false }),
  ),
  'GET /threads/{thread_id}': hidden(),
  'PATCH /threads/{thread_id}': hidden(body({ metadata: { marker: 'mine' } })),
  'DELETE /threads/{thread_id}': hidden(),
  'POST /threads/{thread_id}/copy': hidden(body({})),
  'GET /threads/{thread_id}/state': hidden(),
  'POST /threads/{thread_id}/state': hidden(body({ values: { done: ['mine'] } })),
  'POST /threads/{thread_id}/state/checkpoint': [
    hidden(({ checkpoint_id }) => ({ body: { checkpoint: { checkpoint_id } } })),
  ],
  // For the caller's own thread, an unknown checkpoint is an empty state.
  'GET /threads/{thread_id}/state/{checkpoint_id}': hidden(nothing, { mixes: false }),
  'GET /threads/{thread_id}/storage': hidden(),
  'GET /threads/{thread_id}/history': hidden(),
  'POST /threads/{thread_id}/history': hidden(body({})),
  'GET /threads/{thread_id}/stream': hidden(),
  // A WebSocket: thread-sockets.test.ts.
  'GET /threads/{thread_id}/stream/events': open(),
  // It waits for a thread of the caller's own.
  'POST /threads/{thread_id}/stream/events': hidden(body({ channels: ['values', 'lifecycle'] }), {
    status: 200,
    isVisible: false,
  }),
  'POST /threads/{thread_id}/commands': [
    hidden(body({ id: 1, method: 'state.get' })),
    hidden(body({ id: 1, method: 'agent.getTree' })),
    hidden(body({ id: 1, method: 'input.respond', params: { interrupt_id: 'any', response: 1 } })),
    own(body({ id: 1, method: 'run.start', params: later })),
  ],

  'POST /threads/{thread_id}/runs': [hidden(body(later)), own(body({ ...later, if_not_exists: 'create' }))],
  'POST /threads/{thread_id}/runs/stream': [hidden(body(later))],
  'POST /threads/{thread_id}/runs/wait': [hidden(body(later))],
  'GET /threads/{thread_id}/runs': hidden(),
  'GET /threads/{thread_id}/runs/{run_id}': hidden(),
  'DELETE /threads/{thread_id}/runs/{run_id}': hidden(),
  'GET /threads/{thread_id}/runs/{run_id}/join': hidden(),
  'GET /threads/{thread_id}/runs/{run_id}/stream': hidden(),
  'POST /threads/{thread_id}/runs/{run_id}/cancel': hidden(body({})),

  'POST /runs': hidden(ofAssistant),
  'POST /runs/stream': hidden(ofAssistant),
  'POST /runs/wait': hidden(ofAssistant),
  'POST /runs/batch': hidden((of, me) => ({ body: [later, ofAssistant(of, me).body] })),
  'POST /runs/search': [lists(body({ limit: 1000 })), hidden(ofThread, empty)],
  'POST /runs/count': hidden(ofThread, empty),
  // Only numbers, in buckets that begin at the moment of the request.
  'POST /runs/overview': own(({ assistant_id }) => ({ body: { assistant_id } })),
  'POST /runs/cancel': hidden(({ thread_id, other_run }) => ({ body: { thread_id, run_ids: [other_run] } })),
  'GET /runs/{run_id}': hidden(),
  'GET /runs/{run_id}/join': hidden(),
  'GET /runs/{run_id}/stream': hidden(),

  'POST /runs/crons': hidden(({ assistant_id }) => ({ body: { assistant_id, schedule: '@yearly' } })),
  'POST /threads/{thread_id}/runs/crons': hidden(body({ assistant_id: 'three', schedule: '@yearly' })),
  'POST /runs/crons/search': [lists(), hidden(({ thread_id }) => ({ body: { thread_id } }), empty)],
  'POST /runs/crons/count': hidden(byMarker, empty),
  'GET /runs/crons/{cron_id}': hidden(),
  'PATCH /runs/crons/{cron_id}': hidden(body({ schedule: '@daily' })),
  'DELETE /runs/crons/{cron_id}': hidden(),
  'POST /runs/crons/{cron_id}/pause': hidden(body({})),
  'POST /runs/crons/{cron_id}/resume': hidden(),
  'POST /runs/crons/{cron_id}/trigger': hidden(),
  'POST /runs/crons/{cron_id}/backfill': hidden(body({ start: '2026-01-01', end: '2026-01-02' })),
  'GET /runs/crons/{cron_id}/runs': hidden(),

  'PUT /store/items': own(({ marker }) => ({ body: { namespace: [marker], key: 'one', value: { mine: 1 } } })),
  'GET /store/items': hidden(({ marker }) => ({ query: { namespace: marker, key: 'one' } }), empty),
  'DELETE /store/items': own(({ marker }) => ({ body: { namespace: [marker], key: 'one' } })),
  'POST /store/items/search': [
    lists(body({})),
    hidden(({ marker }) => ({ body: { namespace_prefix: [marker] } }), empty),
    hidden(({ marker }) => ({ body: { filter: { marker } } }), empty),
  ],
  'POST /store/namespaces': [
    lists(body({})),
    hidden(({ marker }) => ({ body: { prefix: [marker] } }), empty),
    hidden(({ marker }) => ({ body: { suffix: [marker] } }), empty),
  ],

  'POST /api/v1/bulk-exports': [
    hidden(({ destination_id }, { project }) => ({ body: exportBody(destination_id, project) }), { status: 422 }),
    hidden(({ project }, { destination_id }) => ({ body: exportBody(destination_id, project) }), { status: 422 }),
  ],
  'GET /api/v1/bulk-exports': [
    lists(),
    hidden(({ export_id }) => ({ query: { source_bulk_export_id: export_id } }), { ...empty, isVisible: false }),
  ],
  'GET /api/v1/bulk-exports/runs': hidden(({ export_id }) => ({ query: { source_bulk_export_id: export_id } })),
  'GET /api/v1/bulk-exports/{export_id}': hidden(),
  'PATCH /api/v1/bulk-exports/{export_id}': hidden(body({ status: 'Cancelled' })),
  'GET /api/v1/bulk-exports/{export_id}/progress': hidden(),
  'GET /api/v1/bulk-exports/{export_id}/manifest': hidden(),
  'POST /api/v1/bulk-exports/{export_id}/verify': hidden(body({})),
  'POST /api/v1/bulk-exports/{export_id}/retry': hidden(),
  'GET /api/v1/bulk-exports/{export_id}/runs': hidden(),
  'GET /api/v1/bulk-exports/{export_id}/runs/{run_id}': hidden(),
  'GET /api/v1/bulk-exports/{export_id}/runs/{run_id}/preview': hidden(),
  'POST /api/v1/bulk-exports/{export_id}/runs/{run_id}/retry': hidden(),
  'POST /api/v1/bulk-exports/destinations': own(({ marker }) => ({ body: destinationBody(marker) })),
  'GET /api/v1/bulk-exports/destinations': lists(),
  'GET /api/v1/bulk-exports/destinations/{destination_id}': hidden(),
  'PATCH /api/v1/bulk-exports/destinations/{destination_id}': hidden(
    body({ credentials: { access_key_id: 'a', secret_access_key: 'b' } }),
  ),
  'POST /api/v1/bulk-exports/destinations/{destination_id}/test': hidden(),
  'DELETE /api/v1/bulk-exports/destinations/{destination_id}': hidden(),

  'POST /api/v1/runs': own((of) => ({ body: traced(of) })),
  'POST /api/v1/runs/batch': own((of) => ({ body: { post: [traced(of)] } })),
  'POST /api/v1/runs/multipart': own((of) => multipart(of.trace, traced(of))),
  // The end of a run may come before its start: it is kept until then.
  'PATCH /api/v1/runs/{run_id}': own(body({ outputs: { mine: true } })),
  'POST /api/v1/otel/v1/traces': own(body({ resourceSpans: [] })),
  'POST /api/v1/runs/query': [
    hidden(({ project }) => ({ body: { session: [project] } }), empty),
    hidden(({ trace }) => ({ body: { id: [trace] } }), empty),
    hidden(({ trace }) => ({ body: { trace } }), empty),
    hidden(({ marker }, { project }) => ({ body: { session: [project], filter: `eq(name, "${marker}")` } }), empty),
  ],
  'POST /api/v1/runs/stats': [
    hidden(({ project }) => ({ body: { session: [project] } }), empty),
    hidden(({ trace }) => ({ body: { id: [trace], group_by: { attribute: 'name' } } }), empty),
  ],
  'POST /api/v1/runs/query/validate': open(body({ filter: 'eq(name, "x")' })),
  'POST /api/v1/runs/delete': hidden(
    ({ other_project, other_trace }) => ({ body: { session_id: other_project, trace_ids: [other_trace] } }),
    { status: 202 },
  ),
  'GET /api/v1/runs/{run_id}': hidden(),
  'POST /api/v2/runs/query': [
    hidden(({ project }) => ({ body: { project_ids: [project], selects: ['name'] } }), empty),
    hidden(({ trace }, { project }) => ({ body: { project_ids: [project], ids: [trace], selects: ['name'] } }), empty),
  ],
  'GET /api/v2/runs/{run_id}': hidden(({ project }) => ({ query: { project_id: project } })),
  'GET /api/v2/traces/{trace_id}/runs': hidden(({ project }) => ({ query: { project_id: project } }), empty),
  'POST /api/v2/traces/query': [
    hidden(({ project }) => ({ body: { project_id: project, selects: ['name'] } }), empty),
    hidden(({ trace }, { project }) => ({ body: { project_id: project, trace_ids: [trace] } }), empty),
  ],
  'POST /api/v2/threads/query': hidden(({ project }) => ({ body: { project_id: project } }), empty),
  'POST /api/v2/threads/stats': hidden(
    ({ project }) => ({ body: { project_id: project, select: ['TRACE_COUNT', 'THREAD_FEEDBACK_STATS'] } }),
    empty,
  ),
  'GET /api/v2/threads/{thread_id}/stats': hidden(
    ({ project }) => ({ query: { session_id: project, selects: 'TURNS' } }),
    empty,
  ),
  'GET /api/v2/threads/{thread_id}/traces': hidden(({ project }) => ({ query: { project_id: project } }), empty),
  'PUT /api/v1/runs/{run_id}/share': hidden(body({})),
  'GET /api/v1/runs/{run_id}/share': hidden(),
  // When its owner tries, the run has gone with its project.
  'DELETE /api/v1/runs/{run_id}/share': hidden(nothing, { isVisible: false }),
  'POST /api/v2/runs/{run_id}/share': hidden(({ trace, project }) => ({
    body: { session_id: project, trace_id: trace },
  })),
  // Also succeeds for resources that aren't shared.
  'DELETE /api/v2/runs/{trace_id}/share': hidden(({ project }) => ({ body: { session_id: project } }), {
    status: 204,
    isVisible: false,
  }),
  'POST /api/v2/threads/{thread_id}/share': hidden(({ project }) => ({ body: { project_id: project } })),
  'GET /api/v2/threads/{thread_id}/share': hidden(({ project }) => ({ query: { project_id: project } }), {
    status: 200,
    isVisible: false,
  }),
  'DELETE /api/v2/threads/{thread_id}/share': hidden(({ project }) => ({ query: { project_id: project } }), {
    status: 204,
    isVisible: false,
  }),
  // The token in the address is the permission: traces-shares.test.ts.
  'GET /public/{share_token}/r': link,
  'GET /api/v1/public/{share_token}/run': link,
  'GET /api/v1/public/{share_token}/run/{run_id}': link,
  'POST /api/v1/public/{share_token}/runs/query': link,
  'GET /api/v2/public/{share_token}/run/{run_id}': link,
  'POST /api/v2/public/{share_token}/runs/query': link,
  'POST /api/v1/runs/group': hidden(
    ({ project }) => ({ body: { session_id: project, group_by: 'conversation' } }),
    empty,
  ),
  // The signature is for one tenant's address.
  'GET /api/v1/attachments/{tenant_id}/{run_id}/{name}': hidden(({ attachment_expires: expires }, me) => ({
    query: { expires, signature: me.attachment_signature },
  })),
  'POST /api/v1/feedback': own(({ trace }) => ({ body: { run_id: trace, key: 'mine', score: 0 } })),
  'GET /api/v1/feedback': [lists(), hidden(({ trace }) => ({ query: { run: trace } }), empty)],
  'GET /api/v1/feedback/{feedback_id}': hidden(),
  'PATCH /api/v1/feedback/{feedback_id}': hidden(body({ score: 0 })),
  'DELETE /api/v1/feedback/{feedback_id}': hidden(),
  // A link is signed: one for her resource, signed for his, opens nothing.
  'GET /api/v1/feedback/tokens/{token}': refused(nothing),
  'POST /api/v1/feedback/tokens/{token}': refused(body({ score: 1 })),
  'POST /api/v1/feedback/tokens': own(({ trace }) => ({ body: { run_id: trace, feedback_key: 'mine' } })),
  'GET /api/v1/feedback/tokens': hidden(({ trace }) => ({ query: { run_id: trace } }), { ...empty, isVisible: false }),
  'POST /api/v1/sessions': own(({ marker }) => ({ query: { upsert: 'true' }, body: { name: marker } })),
  'GET /api/v1/sessions': [
    lists(),
    hidden(({ project }) => ({ query: { id: project } }), empty),
    hidden(({ marker }) => ({ query: { name: marker } }), empty),
  ],
  'DELETE /api/v1/sessions': hidden(({ other_project }) => ({ query: { session_ids: other_project } })),
  'GET /api/v1/sessions/{project_id}': hidden(),
  'PATCH /api/v1/sessions/{project_id}': hidden(body({ description: 'mine' })),
  'DELETE /api/v1/sessions/{project_id}': hidden(),

  'GET /api/v1/sessions/resolutions': hidden(({ project }) => ({ query: { kind: 'EXPERIMENT', id: project } }), {
    isVisible: false,
  }),
  'POST /api/v2/sessions': own(({ marker }) => ({
    query: { upsert: 'true' },
    body: { name: marker, type: 'PROJECT' },
  })),
  'GET /api/v2/sessions': [
    lists(),
    hidden(({ project }) => ({ query: { id: project } }), empty),
    hidden(({ marker }) => ({ query: { name_contains: marker } }), empty),
  ],
  'GET /api/v2/sessions/{project_id}': hidden(),
  'PATCH /api/v2/sessions/{project_id}': hidden(body({ description: 'mine' })),

  'GET /webhooks/deliveries': lists(),
  'GET /webhooks/deliveries/{delivery_id}': hidden(),
  'POST /webhooks/deliveries/{delivery_id}/redeliver': hidden(),
  'POST /webhooks/test': own(body({ url: 'http://127.0.0.1:9/mine' })),

  'GET /.well-known/agent-card.json': hidden(({ assistant_id }) => ({ query: { assistant_id } })),
  'GET /a2a/{assistant_id}': hidden(),
  'GET /a2a/{assistant_id}/.well-known/agent-card.json': hidden(),
  'GET /a2a/{assistant_id}/.well-known/agent.json': hidden(),
  'POST /a2a/{assistant_id}': hidden(() => say({})),
  'POST /a2a/{assistant_id}/message:send': hidden(() => ({ body: sayParams() })),
  'POST /a2a/{assistant_id}/message:stream': hidden(() => ({ body: sayParams() })),
  'GET /a2a/{assistant_id}/tasks': hidden(),
  'GET /a2a/{assistant_id}/tasks/{task_id}': hidden(),
  'POST /a2a/{assistant_id}/tasks/{task_id}:cancel': hidden(),
  'GET /a2a/{assistant_id}/tasks/{task_id}:subscribe': hidden(),
  'POST /a2a/{assistant_id}/tasks/{task_id}:subscribe': hidden(),
  'POST /a2a/{assistant_id}/tasks/{task_id}/pushNotificationConfigs': hidden(body({ url: 'http://127.0.0.1:9/mine' })),
  'GET /a2a/{assistant_id}/tasks/{task_id}/pushNotificationConfigs': hidden(),
  'GET /a2a/{assistant_id}/tasks/{task_id}/pushNotificationConfigs/{config_id}': hidden(),
  'DELETE /a2a/{assistant_id}/tasks/{task_id}/pushNotificationConfigs/{config_id}': hidden(),
  'POST /a2a/talk': [
    lists(() => rpc('ListTasks', {})),
    ...['GetTask', 'CancelTask', 'SubscribeToTask'].map((method) =>
      hidden(({ task }) => rpc(method, { id: task }), empty),
    ),
    hidden(({ task }) => say({ taskId: task, messageId: 'm' }), { ...empty, isVisible: false }),
    own(({ thread_id }) => say({ contextId: thread_id, messageId: 'm' })),
  ],
  'GET /mcp': open(),
  'DELETE /mcp': open(),
  'POST /mcp': [
    lists(() => mcp('tools/list', {})),
    hidden(({ marker }) => mcp('tools/call', { name: marker, arguments: {} }), { ...empty, isVisible: false }),
    hidden(({ mcp_session }) => mcp('ping', {}, { 'mcp-session-id': mcp_session })),
  ],
};

/** Cases in addition to the documented operations: one operation with two kinds of cases. */
const EXTRA = ['POST /a2a/talk'];

/** Order of the cases: later ones delete resources that earlier ones need. */
const ORDER = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'];

interface Document {
  paths: Record<string, Record<string, unknown>>;
}

interface Answer {
  status: number;
  text: string;
}

describe('two tenants', () => {
  let api: TestApi;
  let sql: Pool;
  let alice: TenantCaller;
  let bob: TenantCaller;
  let hers: Possessions;
  let his: Possessions;
  let ghosts: Possessions;
  let operations: string[];
  let attempts: { route: string; path: string; case: Case }[];

  beforeAll(async () => {
    api = await startTestApi({
      GANTRY_AUTH: 'on',
      GANTRY_ADMIN_KEY: ADMIN_KEY,
      GANTRY_CONFIG: TEST_GRAPHS,
      GANTRY_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      TEMPORAL_NAMESPACE: await registerNamespace(),
    });
    sql = new Pool({ connectionString: api.database.url, max: 1 });
    [alice, bob] = await Promise.all([
      TenantCaller.create(api.url, ADMIN_KEY),
      TenantCaller.create(api.url, ADMIN_KEY),
    ]);
    [hers, his] = [await alice.acquire(sql), await bob.acquire(sql)];
    const [[claim], [, signature]] = [hers, his].map(({ feedback_token }) => feedback_token.split('.'));
    hers.feedback_token = `${claim}.${signature}`;
    ghosts = ghostOf(hers);
    const { paths } = (await (await fetch(`${api.url}/openapi.json`)).json()) as Document;
    operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    attempts = Object.entries(CASES).flatMap(([route, cases]) =>
      [cases].flat().flatMap((each) => spellings(route).map((path) => ({ route, path, case: each }))),
    );
  });

  afterAll(async () => {
    await sql?.end();
    await api?.close();
  });

  /** The path and its aliases. */
  function spellings(route: string): string[] {
    const [method, path] = route.split(' ');
    const served = new Set(routesOf(api.app).map((each) => `${each.method} ${describedPath(each.path)}`));
    const others = path.startsWith('/api/')
      ? [path.replace('/api/v1/', '/api/'), path.replace(/^\/api(\/v1)?\//, '/')]
      : [];
    const known = others.filter((other) => served.has(`${method} ${other}`) && !CASES[`${method} ${other}`]);
    return [path, ...new Set(known), ...(path.startsWith('/threads/') ? [path.replace('/threads/', '/thread/')] : [])];
  }

  const paramsOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);

  /** @param of whose ids the path has, by parameter */
  function fill(route: string, path: string, owner: TenantCaller, of: (param: string) => Possessions): string {
    return path.replace(/\{(\w+)\}/g, (_, param: string) => {
      if (param === 'tenant_id') return owner.tenantId;
      if (param === 'name') return 'notes';
      if (['namespace', 'agent', 'basename'].includes(param)) return 'any';
      return of(param)[possessionFor(route.split(' ')[1], param)] ?? fail(`${route}: no ids for ${param}`);
    });
  }

  const fail = (message: string): never => {
    throw new Error(message);
  };

  /** Streams are read for a moment, since resources of others must not be in their beginning either. */
  async function ask(who: TenantCaller, method: string, path: string, call: Call): Promise<Answer> {
    const response = await who.send(method, path, call);
    let text = '';
    const reader = response.body?.getReader();
    const late = sleep(path === '/mcp' ? MCP_MS : STREAM_MS, undefined, { ref: false });
    for (;;) {
      const chunk = await Promise.race([reader?.read(), late.then(() => undefined)]);
      if (!chunk || chunk.done) break;
      text += Buffer.from(chunk.value as Uint8Array).toString();
    }
    await reader?.cancel();
    return { status: response.status, text };
  }

  /** Replaces the requested id by its name, so that answers about different ids are equal. */
  function comparable({ status, text }: Answer, asked: Possessions, ...others: Possessions[]): string {
    let said = text;
    for (const possessions of [asked, ...others]) {
      const byLength = Object.entries(possessions).sort(([, a], [, b]) => String(b).length - String(a).length);
      for (const [name, value] of byLength) said = said.replaceAll(String(value), `<${name}>`);
    }
    return `${status} ${said.replace(/\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)/g, '<time>')}`;
  }

  /** Her resources that an answer names without being asked for them. */
  function leaks({ text }: Answer, question: string): string[] {
    return Object.entries(hers)
      .filter(([, value]) => text.includes(String(value)) && !question.includes(String(value)))
      .map(([name]) => name);
  }

  /** Her resources as she reads them herself. */
  async function inventory(): Promise<Record<string, string>> {
    const seen: Record<string, string> = {};
    for (const { route, path, case: each } of attempts) {
      const [method] = route.split(' ');
      if (method !== 'GET' || each.kind !== 'hidden' || path !== route.split(' ')[1]) continue;
      if (/\/(stream|join|progress)$/.test(path)) continue;
      const filled = fill(route, path, alice, () => hers);
      const { status, text } = await ask(alice, 'GET', filled, each.call(hers, hers));
      // A link's signature changes with the second.
      seen[route] = `${status} ${text.replace(/expires=\d+&signature=[\w-]+/g, '')}`;
    }
    return seen;
  }

  it('are tested on every operation of the API: one without a case fails here', () => {
    const covered = Object.keys(CASES).filter((route) => !EXTRA.includes(route));
    expect([...covered].sort()).toEqual([...operations].sort());
  });

  it('never see or change the resources of the other', async () => {
    const before = await inventory();
    expect(Object.values(before).filter((seen) => seen.startsWith('200 ')).length).toBeGreaterThan(20);
    const faults: string[] = [];
    // Runs after the cases with ids of their own, in which he would find his.
    const isLast = ({ case: { kind } }: (typeof attempts)[number]): boolean => kind === 'own';
    const inOrder = [...attempts.filter((each) => !isLast(each)), ...attempts.filter(isLast)];
    for (const { route, path, case: each } of inOrder) {
      const [method] = route.split(' ');
      const fault = (what: string, answer: Answer): number =>
        faults.push(`${method} ${path}: ${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
      if (each.kind === 'operator') {
        const answer = await ask(bob, method, path.replace(/\{\w+\}/g, alice.tenantId), {});
        if (answer.status !== 403) fault('not refused', answer);
        continue;
      }
      if (each.kind === 'link') {
        if (!path.includes('{run_id}')) continue;
        const mixed = fill(route, path, bob, (param) => (param === 'run_id' ? hers : his));
        const answer = await ask(bob, method, mixed, {});
        if (answer.status !== 404) fault('shows her run by his link', answer);
        continue;
      }
      const call = each.call(hers, his);
      const filled = fill(route, path, alice, () => hers);
      const answer = await ask(bob, method, filled, call);
      const leaked = leaks(answer, filled + JSON.stringify(call));
      if (leaked.length > 0) fault(`names ${leaked.join(', ')}`, answer);
      if (answer.status >= 500 || answer.status === 403) fault('is neither an answer nor a 404', answer);
      if (each.kind === 'refused' && answer.status !== 404) fault('not refused', answer);
      if (each.kind === 'own' && (answer.status >= 300 || answer.text.includes('"error":{'))) fault('refused', answer);
      if (each.kind === 'lists' && answer.status !== 200) fault('lists nothing', answer);
      if (each.kind !== 'hidden') continue;
      if (answer.status !== each.status) fault(`not a ${each.status}`, answer);
      const ghost = await ask(
        bob,
        method,
        fill(route, path, alice, () => ghosts),
        each.call(ghosts, his),
      );
      if (comparable(answer, hers, his) !== comparable(ghost, ghosts, his)) {
        fault(`differs from what isn't there (${ghost.status} ${ghost.text.slice(0, 200)})`, answer);
      }
      const ids = paramsOf(path).filter((param) => !['tenant_id', 'namespace', 'name'].includes(param));
      if (!each.mixes || ids.length < 2) continue;
      for (const foreign of ids) {
        const mixed = fill(route, path, bob, (param) => (param === foreign ? hers : his));
        const mixture = await ask(bob, method, mixed, each.call(his, his));
        if (mixture.status !== 404) fault(`with her ${foreign} alone`, mixture);
      }
    }
    expect(faults).toEqual([]);
    expect(await inventory()).toEqual(before);
  });

  it('see and change their own resources, with the same operations', async () => {
    const faults: string[] = [];
    const ordered = attempts
      .filter(({ route, path }) => path === route.split(' ')[1])
      .sort((a, b) => ORDER.indexOf(a.route.split(' ')[0]) - ORDER.indexOf(b.route.split(' ')[0]))
      // Deeper paths first, since a thread's deletion deletes its runs.
      .sort((a, b) =>
        a.route.startsWith('DELETE') && b.route.startsWith('DELETE') ? b.path.length - a.path.length : 0,
      );
    for (const { route, path, case: each } of ordered) {
      const [method] = route.split(' ');
      if (each.kind !== 'hidden' && each.kind !== 'lists') continue;
      if (each.kind === 'hidden' && !each.isVisible) continue;
      const answer = await ask(
        alice,
        method,
        fill(route, path, alice, () => hers),
        each.call(hers, hers),
      );
      const fault = (what: string): number =>
        faults.push(`${route}: ${what}: ${answer.status} ${answer.text.slice(0, 300)}`);
      if (each.kind === 'lists') {
        if (leaks(answer, '').length === 0) fault('does not list her own');
        continue;
      }
      const ghost = await ask(
        alice,
        method,
        fill(route, path, alice, () => ghosts),
        each.call(ghosts, hers),
      );
      if (comparable(answer, hers) === comparable(ghost, ghosts, hers)) fault('is as if it were not there');
    }
    expect(faults).toEqual([]);
  });
});
