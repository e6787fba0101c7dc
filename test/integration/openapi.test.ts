import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { v7 as uuidv7 } from 'uuid';
import { startTestApi, type TestApi } from '../support/api';
import { TEST_GRAPHS } from '../support/gantry';
import { describedPath, routesOf } from '../support/routes';

/** Runs in a process of its own: the package has only ES modules, which jest can't load. */
const VALIDATOR = pathToFileURL(require.resolve('@seriousme/openapi-schema-validator')).href;

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  schema?: object;
}

interface Operation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema?: object }> };
  responses?: Record<string, { description?: string }>;
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components?: Record<string, Record<string, unknown>>;
  tags?: { name: string }[];
}

/** The groups of the contract that are served so far. */
const TAGS = ['Assistants', 'Threads', 'Thread Runs', 'Stateless Runs', 'MCP', 'System'];

/** Aliases for trace clients, whose base addresses end differently; each operation is described once. */
const spellings = (path: string): string[] => [
  path,
  `/api${path}`,
  `/api/v1${path.replace(/^\/api(\/v1)?(?=\/)/, '')}`,
];

/** Aliases of /ok and /info for clients that can't request those; they aren't described. */
const UNDESCRIBED = ['GET /', 'GET /api/info', 'GET /api/v1/info'];

/** Whether a handler answered: the 404 of a missing record has its own text. */
const isMissing = (status: number, text: string): boolean => status === 404 && text === 'Not Found';

describe('the description of the API', () => {
  let api: TestApi;
  let document: Document;
  let operations: { method: string; path: string; operation: Operation }[];

  beforeAll(async () => {
    api = await startTestApi({ GANTRY_CONFIG: TEST_GRAPHS });
    document = (await (await fetch(`${api.url}/openapi.json`)).json()) as Document;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
  });

  afterAll(() => api?.close());

  it('is OpenAPI 3.1 and describes itself', () => {
    expect(document.openapi).toMatch(/^3\.1\./);
    expect(document.info).toMatchObject({ title: 'Gantry', version: api.config.version });
    expect(operations.length).toBeGreaterThan(40);
  });

  it('matches the types of the console', async () => {
    const script = join(__dirname, '..', '..', 'scripts', 'console-types.mjs');
    await promisify(execFile)(process.execPath, [script, '--check', api.url]);
  });

  it('is valid by the meta-schema of OpenAPI 3.1', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gantry-openapi-'));
    try {
      const file = join(folder, 'openapi.json');
      await writeFile(file, JSON.stringify(document));
      const script = `import { Validator } from ${JSON.stringify(VALIDATOR)};
        const { valid, errors } = await new Validator().validate(process.argv[1]);
        console.log(JSON.stringify({ valid, errors }));`;
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script, file]);
      expect(JSON.parse(stdout)).toEqual({ valid: true });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('has an id, a summary, a tag and an answer for every operation', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { method, path, operation } of operations) {
      const { summary, tags, responses } = operation;
      const faults = [
        !operation.operationId && 'id',
        !summary && 'summary',
        !tags?.length && 'tag',
        Object.keys(responses ?? {}).length === 0 && 'responses',
        Object.values(responses ?? {}).some(({ description }) => description === undefined) && 'description',
      ].filter(Boolean);
      expect([`${method} ${path}`, faults]).toEqual([`${method} ${path}`, []]);
    }
    const used = new Set(operations.flatMap(({ operation }) => operation.tags ?? []));
    expect([...used]).toEqual(expect.arrayContaining(TAGS));
  });

  it('requires a key where the server does, and nowhere else', () => {
    const open = operations.filter(({ operation }) => operation.security?.length === 0);
    const paths = open.map(({ method, path }) => `${method} ${path}`);
    expect(paths).toEqual(expect.arrayContaining(['GET /ok', 'GET /ready', 'GET /info', 'GET /metrics']));
    const closed = paths.filter((path) => !path.includes('/public/{share_token}/'));
    for (const path of closed) expect(path).not.toMatch(/threads|runs\/|assistants|store|admin|exports/);
    expect((document as { security?: object[] }).security).toEqual([{ api_key: [] }]);
  });

  it('answers 405 to a method that a path does not have, and names those that it has', async () => {
    for (const path of Object.keys(document.paths)) {
      const address = path.replaceAll(/\{\w+\}/g, uuidv7());
      // `/threads/search` is also a thread of that name to the methods that it doesn't have.
      const leadsHere = (pattern: string): boolean =>
        new RegExp(`^${pattern.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(address);
      const reached = operations.filter((each) =>
        [...spellings(each.path), each.path.replace(/^\/api(\/v1)?/, '')].some(leadsHere),
      );
      const methods = reached.filter((each) => each.path === path).map((each) => each.method);
      const method = ['PATCH', 'PUT', 'DELETE'].find((each) => reached.every((other) => other.method !== each));
      if (!method) continue;
      const response = await fetch(api.url + address, { method });
      const allowed = response.headers.get('allow')?.split(', ') ?? [];
      expect([path, response.status, await response.json(), allowed]).toEqual([
        path,
        405,
        { detail: 'Method Not Allowed', code: 'method_not_allowed' },
        expect.arrayContaining(methods),
      ]);
    }
    const missing = await fetch(`${api.url}/no/such/path`, { method: 'PUT' });
    expect([missing.status, await missing.text()]).toEqual([404, 'Not Found']);
  });

  it('declares every parameter of a path, and no other', () => {
    for (const { method, path, operation } of operations) {
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      const declared = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
      expect([`${method} ${path}`, declared.map(({ name }) => name).sort()]).toEqual([
        `${method} ${path}`,
        inPath.sort(),
      ]);
      for (const parameter of declared) expect(parameter).toMatchObject({ required: true, schema: expect.any(Object) });
    }
  });

  it('has no dangling references', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target);
    for (const target of references) {
      const found = target
        .replace(/^#\//, '')
        .split('/')
        .reduce<unknown>(
          (value, key) =>
            (value as Record<string, unknown> | undefined)?.[key.replaceAll('~1', '/').replaceAll('~0', '~')],
          document,
        );
      expect([target, typeof found]).toEqual([target, 'object']);
    }
  });

  it('describes the bodies of runs by their fields', () => {
    const text = JSON.stringify(document.paths['/threads/{thread_id}/runs/stream']?.post?.requestBody ?? {});
    const schemas = JSON.stringify(document.components ?? {});
    for (const field of ['assistant_id', 'stream_mode', 'webhook']) expect(text + schemas).toContain(field);
    expect(text).not.toBe('{}');
  });

  it('describes nothing that is not served', async () => {
    for (const { method, path } of operations) {
      const response = await fetch(api.url + path.replace(/\{[^}]+\}/g, () => uuidv7()), { method });
      const text = await response.text();
      expect([`${method} ${path}`, isMissing(response.status, text)]).toEqual([`${method} ${path}`, false]);
      expect([`${method} ${path}`, response.status]).not.toEqual([`${method} ${path}`, 500]);
    }
  });

  it('omits nothing that is served, except second spellings', () => {
    const described = new Set(operations.map(({ method, path }) => `${method} ${path}`));
    const undescribed = routesOf(api.app)
      .map(({ method, path }) => ({ method, path: describedPath(path) }))
      .filter(({ method, path }) => spellings(path).every((spelling) => !described.has(`${method} ${spelling}`)))
      .map(({ method, path }) => `${method} ${path}`)
      .filter((route) => !UNDESCRIBED.includes(route));
    expect(undescribed).toEqual([]);
  });

  it('can be read at /docs, from this server only', async () => {
    const response = await fetch(`${api.url}/docs`);
    expect(response.status).toBe(200);
    const html = await response.text();
    expect(html).toContain('Gantry API');
    expect(html).not.toMatch(/(src|href)="https?:/);
  });
});
