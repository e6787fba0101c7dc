import { Worker } from 'node:worker_threads';
import { SCHEMA_COMPILER } from '../../patches/langgraph-api/schema-compiler';
import type { GraphSource } from '../../config/langgraph-json';
import type { GraphSchemas } from './graph-schemas';
import type { CompilerAnswer, TypeSchemasCache } from './type-schemas-cache';

/** A large project takes the compiler this long on a busy machine; then its schemas are unknown. */
const TIMEOUT_MS = 120_000;

export class CompilerTooSlow extends Error {
  constructor() {
    super(`the compiler takes longer than ${TIMEOUT_MS / 1_000} s`);
  }
}

/** Schemas by the path of the graph: `""` is the whole, `node` and `node|node` the graphs inside. */
export type SchemasByPath = Map<string, GraphSchemas>;

/**
 * Reads a graph's schemas from the TypeScript types of its module, in a thread of its own: it computes for seconds.
 * @throws CompilerTooSlow, or another error when the compiler can't make sense of the module
 */
export async function schemasFromTypes(source: GraphSource, cache: TypeSchemasCache): Promise<SchemasByPath> {
  const text = await cache.get(source, () => askCompiler(source));
  const found = JSON.parse(text) as Record<string, Partial<GraphSchemas>>;
  return new Map(
    Object.entries(found).map(([path, { state, input, output, config }]) => [
      path.split('|').slice(1).join('|'),
      { state: state ?? null, input: input ?? null, output: output ?? null, config: config ?? null },
    ]),
  );
}

async function askCompiler({ file, exportName }: GraphSource): Promise<CompilerAnswer> {
  const worker = new Worker(SCHEMA_COMPILER, {
    eval: true,
    workerData: { sourceFile: file, exportSymbol: exportName },
    execArgv: [],
  });
  try {
    return await answerOf(worker);
  } finally {
    await worker.terminate();
  }
}

function answerOf(worker: Worker): Promise<CompilerAnswer> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new CompilerTooSlow()), TIMEOUT_MS);
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => {
      clearTimeout(timer);
      reject(new Error('The compiler ended without an answer'));
    });
  });
}
