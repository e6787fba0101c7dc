import { randomUUID } from 'node:crypto';
import { Client } from 'langsmith';
import type { TraceResources } from './served';

/** A project with a trace in a thread, feedback and a public link, and ways to make more. */
export async function prepareTraces(apiUrl: string): Promise<TraceResources> {
  const client = new Client({ apiUrl, apiKey: 'x', autoBatchTracing: false });
  const projectName = `contract ${randomUUID()}`;
  const startTime = new Date(Date.now() - 60_000).toISOString();
  const rootId = await newRun();
  await newRun(rootId);
  const projectId = (await client.readProject({ projectName })).id;
  await client.shareRun(rootId);
  return {
    ...{ projectId, projectName, rootId, startTime, feedbackId: await newFeedback() },
    shareToken: (await client.readRunSharedLink(rootId))!.split('/').at(-2)!,
    feedbackLink: (await client.createPresignedFeedbackToken(rootId, 'link')).url,
    newProject: async () => {
      const name = `contract ${randomUUID()}`;
      return { id: (await client.createProject({ projectName: name })).id, name };
    },
    experimentId: (await client.createProject({ projectName: randomUUID(), referenceDatasetId: randomUUID() })).id,
    newRun,
    newFeedback,
  };

  async function newRun(parent?: string): Promise<string> {
    const id = randomUUID();
    const stamp = `${startTime.replace(/[-:.]/g, '').replace('Z', '000Z')}`;
    await client.createRun({
      ...{ id, name: parent ? 'child' : 'root', run_type: 'chain', project_name: projectName, start_time: startTime },
      ...{
        inputs: { text: 'root' },
        outputs: { a: 1 },
        end_time: startTime,
        extra: { metadata: { thread_id: 'talk' } },
      },
      ...(parent && { parent_run_id: parent }),
      trace_id: parent ?? id,
      dotted_order: parent ? `${stamp}${parent}.${stamp}${id}` : `${stamp}${id}`,
    });
    return id;
  }

  async function newFeedback(): Promise<string> {
    return (await client.createFeedback(rootId, 'quality', { score: 1 })).id;
  }
}
