import { Client as LangSmithClient, RunTree } from 'langsmith';
import { traceable } from 'langsmith/traceable';
import { type ApiProcess, startApiProcess } from '../support/api-process';

/** The real JavaScript client against the api process, through each of its transports. */
describe('langsmith for JavaScript', () => {
  let api: ApiProcess;

  beforeAll(async () => {
    api = await startApiProcess();
  });
  afterAll(() => api.close());

  const bases: [string, string, boolean][] = [
    ['multipart at the root', '', true],
    ['multipart under /api/v1', '/api/v1', true],
    ['multipart under /api', '/api', true],
    ['batch under /api/v1', '/api/v1', false],
    ['batch under /api', '/api', false],
    ['batch at the root', '', false],
  ];

  it.each(bases)('traces a tree of runs by %s', async (title, base, multipart) => {
    const project = `js ${title}`;
    const client = new LangSmithClient({ apiUrl: api.url + base, apiKey: 'x' });
    const info = await (
      client as unknown as { _ensureServerInfo(): Promise<{ batch_ingest_config: object }> }
    )._ensureServerInfo();
    Object.assign(info.batch_ingest_config, { use_multipart_endpoint: multipart });
    const leaf = traceable((question: string) => `answer to ${question}`, {
      name: 'leaf',
      run_type: 'tool',
      client,
      tracingEnabled: true,
      project_name: project,
      tags: ['one', 'two'],
    });
    const failing = traceable(
      () => {
        throw new Error('no luck');
      },
      { name: 'failing', client, tracingEnabled: true, project_name: project },
    );
    const root = traceable(
      async (question: string) => {
        await Promise.resolve(failing()).catch(() => undefined);
        return { text: await leaf(question) };
      },
      { name: 'root', client, tracingEnabled: true, project_name: project, metadata: { thread_id: 'thread 1' } },
    );
    await root('why?\u0000');
    await client.awaitPendingTraceBatches();

    const sessions = (await (
      await fetch(`${api.url}/api/v1/sessions?name=${encodeURIComponent(project)}&include_stats=True`)
    ).json()) as {
      id: string;
      run_count: number;
      error_rate: number;
    }[];
    expect(sessions).toMatchObject([{ name: project, run_count: 3 }]);
    expect(sessions[0]?.error_rate).toBeCloseTo(1 / 3);
  });

  it.each([
    ['under /api/v1', '/api/v1'],
    ['at the root', ''],
  ])('merges what a RunTree posts and patches in separate requests, and reads it back %s', async (title, base) => {
    const client = new LangSmithClient({ apiUrl: api.url + base, apiKey: 'x' });
    const projectName = `js tree ${title}`;
    const tree = new RunTree({
      name: 'slow',
      run_type: 'llm',
      client,
      project_name: projectName,
      inputs: { a: 1 },
      extra: { metadata: { user: 'ann' } },
      attachments: { notes: ['text/plain', new TextEncoder().encode('hello')] },
    });
    const child = tree.createChild({ name: 'inner', run_type: 'tool', inputs: { b: 2 } });
    await tree.postRun();
    await child.postRun();
    await client.awaitPendingTraceBatches();
    expect(await client.readRun(tree.id)).toMatchObject({ status: 'pending', outputs: null });
    await child.end({ c: 3 });
    await child.patchRun();
    await tree.end({ usage_metadata: { input_tokens: 1, output_tokens: 2 } });
    await tree.patchRun();
    await client.awaitPendingTraceBatches();
    await client.createFeedback(tree.id, 'quality', { score: 1, comment: 'fine' });

    const read = await client.readRun(tree.id, { loadChildRuns: true });
    expect(read).toMatchObject({
      name: 'slow',
      status: 'success',
      inputs: { a: 1 },
      total_tokens: 3,
      feedback_stats: { quality: { n: 1, avg: 1, comments: ['fine'] } },
      child_runs: [expect.objectContaining({ name: 'inner', outputs: { c: 3 }, parent_run_ids: [tree.id] })],
    });
    const link = (read as unknown as { s3_urls: Record<string, { presigned_url: string }> }).s3_urls[
      'attachment.notes'
    ];
    expect(await (await fetch(link?.presigned_url ?? '')).text()).toBe('hello');

    const names = async (options: object): Promise<string[]> => {
      const found: string[] = [];
      for await (const run of client.listRuns({ projectName, ...options })) found.push(run.name);
      return found.sort();
    };
    expect(await names({})).toEqual(['inner', 'slow']);
    expect(await names({ isRoot: true })).toEqual(['slow']);
    expect(await names({ filter: 'and(eq(metadata_key, "user"), eq(metadata_value, "ann"))' })).toContain('slow');
    expect(await names({ filter: 'eq(run_type, "tool")', treeFilter: 'eq(feedback_key, "quality")' })).toEqual([
      'inner',
    ]);
    const project = await client.readProject({ projectName, includeStats: true });
    expect(project).toMatchObject({ name: projectName, run_count: 2 });
    expect(await client.hasProject({ projectName: 'no such project' })).toBe(false);
    await client.deleteProject({ projectName });
    expect(await client.hasProject({ projectName })).toBe(false);
  });

  it('pages through the second version of the query API', async () => {
    const client = new LangSmithClient({ apiUrl: api.url + '/api/v1', apiKey: 'x' });
    for (let index = 0; index < 5; index += 1) {
      await client.createRun({ name: `run ${index}`, run_type: 'chain', inputs: { index }, project_name: 'js v2' });
    }
    await client.awaitPendingTraceBatches();
    const { id } = await client.readProject({ projectName: 'js v2' });
    const found: unknown[] = [];
    for await (const run of client.runs.query({
      project_ids: [id],
      selects: ['NAME', 'INPUTS', 'STATUS'],
      page_size: 2,
      sort_order: 'ASC',
    } as never)) {
      found.push(run);
    }
    expect(found).toEqual(
      [0, 1, 2, 3, 4].map((index) => ({ name: `run ${index}`, inputs: { index }, status: 'PENDING' })),
    );
  });
});
