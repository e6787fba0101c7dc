import type { GraphSource } from '../../config/langgraph-json';
import { GraphCallHandler } from './graph-calls';
import type { GraphLoader } from './graph-loader';
import { CompilerTooSlow } from './type-schemas';
import type { TypeSchemasCache } from './type-schemas-cache';

describe('schemas that are read in advance', () => {
  const answer = '{"graph":{"state":{"type":"object"}}}';
  const source = (graphId: string): GraphSource => ({
    graphId,
    file: `${graphId}.ts`,
    exportName: 'graph',
    language: 'javascript',
    onUnknown: 'retry',
  });

  /** Reads the schemas of graphs for which the compiler gives these answers, one after the other. */
  async function prepare(answers: Record<string, (string | Error)[]>) {
    const asked: string[] = [];
    const warnings: Record<string, unknown>[] = [];
    const graphs: Pick<GraphLoader, 'loaded'> = {
      loaded: () => Object.keys(answers).map((graphId) => ({ source: source(graphId), graph: undefined })),
    };
    const cache: Pick<TypeSchemasCache, 'get'> = {
      get: async ({ graphId }) => {
        asked.push(graphId);
        const given = answers[graphId].shift() ?? new Error('asked too often');
        if (given instanceof Error) throw given;
        return given;
      },
    };
    const unused = (): never => {
      throw new Error('no connection is needed');
    };
    const calls = new GraphCallHandler(
      graphs as GraphLoader,
      unused,
      unused,
      undefined,
      cache as TypeSchemasCache,
      (message, fields) => warnings.push({ message, ...fields }),
    );
    await calls.prepareSchemas();
    return { asked, warnings };
  }

  it('are read once', async () => {
    expect(await prepare({ one: [answer], two: [answer] })).toEqual({ asked: ['one', 'two'], warnings: [] });
  });

  it('are read again, after those of the other graphs, when the compiler took too long', async () => {
    const { asked, warnings } = await prepare({ slow: [new CompilerTooSlow(), answer], two: [answer] });
    expect(asked).toEqual(['slow', 'two', 'slow']);
    expect(warnings).toEqual([
      {
        message: 'The schemas of a graph are unknown, since its types could not be read',
        graph_id: 'slow',
        reason: 'the compiler takes longer than 120 s',
      },
    ]);
  });

  it('stay unknown, with a reason in the log, when the compiler makes no sense of the module', async () => {
    const { asked, warnings } = await prepare({ odd: [new Error('No export "graph"')], two: [answer] });
    expect(asked).toEqual(['odd', 'two']);
    expect(warnings).toEqual([expect.objectContaining({ graph_id: 'odd', reason: 'No export "graph"' })]);
  });
});
