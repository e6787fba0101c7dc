import { randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { FeedbackLinks } from '../../src/traces/feedback/feedback-links';
import type { CreatedApiKey, Tenant } from '../../src/auth/admin.schemas';
import { testStore } from './exports';
import { testConfig } from './config';
import { postMcp } from './mcp';

export interface Call {
  query?: Record<string, string>;
  /** Body, sent as JSON; text and bytes are sent unchanged. */
  body?: unknown;
  headers?: Record<string, string>;
}

/** The resources of a tenant, by name. */
export interface Possessions {
  /** A name that each of them contains. */
  marker: string;
  assistant_id: string;
  thread_id: string;
  checkpoint_id: string;
  run_id: string;
  other_run: string;
  stateless_run: string;
  cron_id: string;
  project: string;
  trace: string;
  other_project: string;
  other_trace: string;
  feedback_id: string;
  feedback_token: string;
  share_token: string;
  attachment_signature: string;
  attachment_expires: string;
  destination_id: string;
  export_id: string;
  export_run: string;
  delivery_id: string;
  task: string;
  mcp_session: string;
}

/** Meanings of path parameters whose names are ambiguous. */
const PARAMS: [prefix: string, Record<string, keyof Possessions>][] = [
  ['/a2a', { task_id: 'task', config_id: 'marker' }],
  ['/api/v1/bulk-exports', { run_id: 'export_run' }],
  ['/api/v1/runs', { run_id: 'trace' }],
  ['/api/v2/threads', { thread_id: 'marker' }],
  ['/api/v1/public', { run_id: 'trace' }],
  ['/api/v2', { run_id: 'trace', trace_id: 'trace', project_id: 'project' }],
  ['/api/v1/attachments', { run_id: 'trace' }],
  ['/api/v1/sessions', { project_id: 'project' }],
  ['/api/v1/feedback', { token: 'feedback_token' }],
  ['/runs/{run_id}', { run_id: 'stateless_run' }],
];

/** Which of a tenant's things a parameter of a described path asks for. */
export function possessionFor(path: string, param: string): keyof Possessions {
  const [, names] = PARAMS.find(([prefix]) => path.startsWith(prefix)) ?? [];
  return names?.[param] ?? (param as keyof Possessions);
}

/** A caller: a tenant with its own key. */
export class TenantCaller {
  private constructor(
    readonly url: string,
    readonly tenantId: string,
    readonly key: string,
    readonly marker: string,
  ) {}

  static async create(url: string, adminKey: string): Promise<TenantCaller> {
    const marker = `t${randomUUID().replaceAll('-', '')}`;
    const admin = async <T>(path: string, body: object): Promise<T> => {
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'x-api-key': adminKey, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return (await response.json()) as T;
    };
    const { tenant_id } = await admin<Tenant>('/admin/tenants', { name: marker });
    const { key } = await admin<CreatedApiKey>('/admin/keys', { tenant_id, name: 'ci' });
    return new TenantCaller(url, tenant_id, key, marker);
  }

  send(method: string, path: string, { query = {}, body, headers = {} }: Call = {}): Promise<Response> {
    const url = new URL(this.url + path);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
    const isJson = body !== undefined && typeof body !== 'string';
    return fetch(url, {
      method,
      headers: {
        'x-api-key': this.key,
        'x-tenant-id': this.tenantId,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : body }),
    });
  }

  async json<T>(method: string, path: string, call: Call = {}): Promise<T> {
    const response = await this.send(method, path, call);
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }

  /** One resource of every kind. Runs stay pending, since they are due in an hour. */
  async acquire(sql: Pool): Promise<Possessions> {
    const { marker, tenantId } = this;
    const metadata = { marker };
    const post = (path: string, body: unknown): Promise<Record<string, string>> => this.json('POST', path, { body });
    const later = { assistant_id: 'three', after_seconds: 3600, metadata, input: { done: [marker] } };

    const { assistant_id } = await post('/assistants', { graph_id: 'talk', name: marker, metadata });
    const { thread_id } = await post('/threads', { metadata: { ...metadata, graph_id: 'three' } });
    const edit = { values: { done: [marker] }, as_node: 'node_1' };
    const { checkpoint_id } = await post(`/threads/${thread_id}/state`, edit);
    const { run_id } = await post(`/threads/${thread_id}/runs`, later);
    const { run_id: other_run } = await post(`/threads/${thread_id}/runs`, later);
    const { run_id: stateless_run } = await post('/runs', later);
    const yearly = { assistant_id: 'three', schedule: '0 0 1 1 *', metadata };
    const { cron_id } = await post(`/threads/${thread_id}/runs/crons`, yearly);
    await this.send('PUT', '/store/items', { body: { namespace: [marker], key: 'one', value: metadata } });

    const { id: project } = await post('/api/v1/sessions', { name: marker });
    const { id: other_project } = await post('/api/v1/sessions', { name: `other ${marker}` });
    const [trace, other_trace] = [randomUUID(), randomUUID()];
    await this.upload(trace, marker, marker);
    await this.upload(other_trace, marker, `other ${marker}`);
    const { id: feedback_id } = await post('/api/v1/feedback', { run_id: trace, key: marker, score: 1 });
    const links = new FeedbackLinks(testConfig('postgres://nowhere')).of(tenantId, trace, new Date(), ['liked']);
    const { share_token } = await this.json<{ share_token: string }>('PUT', `/api/v1/runs/${trace}/share`, {
      body: {},
    });
    const traced = JSON.stringify(await this.json('GET', `/api/v1/runs/${trace}`));
    const [, attachment_expires, attachment_signature] = /notes\?expires=(\d+)&signature=([\w-]+)/.exec(traced)!;

    const { id: destination_id } = await post('/api/v1/bulk-exports/destinations', destinationBody(marker));
    const { id: export_id } = await post('/api/v1/bulk-exports', exportBody(destination_id, project));
    // No worker plans partitions here; this one is of a day that none would plan.
    const export_run = randomUUID();
    await sql.query(
      `INSERT INTO bulk_export_runs (tenant_id, export_run_id, export_id, day, start_time, end_time, status, rows_planned)
       VALUES ($1, $2, $3, '2020-01-01', '2020-01-01', '2020-01-02', 'Created', 1)`,
      [tenantId, export_run, export_id],
    );
    const { delivery_id } = await post('/webhooks/test', { url: `http://127.0.0.1:9/${marker}` });

    const { result } = await this.json<{ result: { task: { id: string } } }>('POST', '/a2a/talk', say({}, marker));
    const opened = await postMcp(this.url, INITIALIZE, { 'x-api-key': this.key });
    return {
      marker,
      assistant_id,
      thread_id,
      checkpoint_id,
      run_id,
      other_run,
      stateless_run,
      cron_id,
      project,
      trace,
      other_project,
      other_trace,
      feedback_id,
      share_token,
      feedback_token: links.liked.split('/').at(-1)!,
      attachment_signature,
      attachment_expires,
      destination_id,
      export_id,
      export_run,
      delivery_id,
      task: result.task.id,
      mcp_session: opened.headers.get('mcp-session-id')!,
    };
  }

  private async upload(id: string, marker: string, project: string): Promise<void> {
    const start = new Date().toISOString();
    const run = { id, trace_id: id, dotted_order: start.replace(/[-:.]/g, '') + id, start_time: start };
    const details = { inputs: { marker }, extra: { metadata: { thread_id: marker } } };
    const form = multipart(id, { ...run, name: marker, run_type: 'chain', session_name: project, ...details });
    const response = await this.send('POST', '/api/v1/runs/multipart', form);
    if (response.status !== 202) throw new Error(await response.text());
  }
}

/** Ids that no tenant has, of the same form. */
export function ghostOf(possessions: Possessions): Possessions {
  const scramble = (text: string): string => {
    const random = [...randomUUID(), ...randomUUID()].filter((character) => character !== '-');
    return [...text].map((character, index) => (/[0-9a-f]/.test(character) ? random[index % 64] : character)).join('');
  };
  const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  return Object.fromEntries(
    Object.entries(possessions).map(([name, value]) => [
      name,
      isUuid.test(value as string) ? randomUUID() : /^\d+$/.test(value as string) ? value : scramble(value as string),
    ]),
  ) as unknown as Possessions;
}

export function multipart(id: string, run: object): Call {
  const part = (name: string, content: string, type = 'application/json'): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\nContent-Type: ${type}\r\n\r\n${content}\r\n`;
  const notes = part(`attachment.${id}.notes`, 'hello', 'text/plain; length=5');
  return {
    body: `${part(`post.${id}`, JSON.stringify(run))}${notes}--b--\r\n`,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  };
}

export function destinationBody(name: string): object {
  const { bucket, region, endpoint, access_key_id, secret_access_key } = testStore();
  return {
    destination_type: 's3',
    display_name: name,
    config: { bucket_name: bucket, prefix: name, region, endpoint_url: endpoint },
    credentials: { access_key_id, secret_access_key },
  };
}

export const exportBody = (destination: string, project: string): object => ({
  bulk_export_destination_id: destination,
  session_id: project,
  start_time: '2026-11-01T00:00:00Z',
  end_time: '2026-11-02T00:00:00Z',
});

export const rpc = (method: string, params: object): Call => ({
  body: { jsonrpc: '2.0', id: 1, method, params },
  headers: { 'a2a-version': '1.0' },
});

/** A message to an agent that doesn't wait for the answer. */
export const say = (message: object, text = 'hello'): Call =>
  rpc('SendMessage', {
    message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text }], ...message },
    configuration: { returnImmediately: true },
  });

export const mcp = (method: string, params: object, headers: Record<string, string> = {}): Call => ({
  body: { jsonrpc: '2.0', id: 1, method, params },
  headers: { accept: 'application/json, text/event-stream', ...headers },
});

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
};
