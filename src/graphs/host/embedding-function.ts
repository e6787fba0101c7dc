import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { TextKind } from '../../item-store/item-store';
import type { EmbeddingSource, StoreSettings } from '../../config/store-settings';
import { importExport } from './user-module';

/** LangChain's interface Embeddings: the two methods differ for models that embed questions differently. */
interface Embeddings {
  embedDocuments(texts: string[]): Promise<ArrayLike<number>[]>;
  embedQuery(text: string): Promise<ArrayLike<number>>;
}

/** Export of a project: a function of texts, or an Embeddings object. */
type Embedder = Embeddings | ((texts: string[]) => Promise<ArrayLike<number>[]> | ArrayLike<number>[]);

type Classes = Record<string, new (options: object) => Embeddings>;

/** The packages of the providers and the class in each, as in the `provider:model` names of LangChain. */
const PROVIDERS: Record<string, [packageName: string, className: string]> = {
  openai: ['@langchain/openai', 'OpenAIEmbeddings'],
  azure_openai: ['@langchain/openai', 'AzureOpenAIEmbeddings'],
  cohere: ['@langchain/cohere', 'CohereEmbeddings'],
  mistralai: ['@langchain/mistralai', 'MistralAIEmbeddings'],
  ollama: ['@langchain/ollama', 'OllamaEmbeddings'],
  bedrock: ['@langchain/aws', 'BedrockEmbeddings'],
  google_genai: ['@langchain/google-genai', 'GoogleGenerativeAIEmbeddings'],
  google_vertexai: ['@langchain/google-vertexai', 'VertexAIEmbeddings'],
};

/** The embedding function that `store.index.embed` names: user code, or a provider's client with the user's key. */
export class EmbeddingFunction {
  private constructor(
    private readonly embedder: Embedder,
    private readonly dims: number,
  ) {}

  /** @throws when it can't be loaded, naming the setting: an index that can't work is reported at the start. */
  static async load({ embed, dims }: NonNullable<StoreSettings['index']>): Promise<EmbeddingFunction> {
    try {
      const embedder = embed.kind === 'function' ? await fromModule(embed) : await fromProvider(embed, dims);
      return new EmbeddingFunction(embedder, dims);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new Error(`store.index.embed: ${message}`, { cause: error });
    }
  }

  /**
   * One vector for each text.
   * @throws the function's error, or one that describes its invalid answer
   */
  async embed(kind: TextKind, texts: string[]): Promise<number[][]> {
    const vectors = await this.ask(kind, texts);
    if (!Array.isArray(vectors) || vectors.length !== texts.length) {
      throw new Error(`it was given ${texts.length} texts and did not answer with as many vectors`);
    }
    return vectors.map((vector) => {
      const numbers = Array.from(vector ?? []);
      if (numbers.length !== this.dims) {
        throw new Error(
          `it answered with a vector of ${numbers.length} numbers, while store.index.dims is ${this.dims}`,
        );
      }
      if (!numbers.every(Number.isFinite)) throw new Error('it answered with a vector that has no number in a place');
      return numbers;
    });
  }

  private async ask(kind: TextKind, texts: string[]): Promise<ArrayLike<number>[]> {
    const { embedder } = this;
    if (typeof embedder === 'function') return embedder(texts);
    if (kind === 'document') return embedder.embedDocuments(texts);
    return Promise.all(texts.map((text) => embedder.embedQuery(text)));
  }
}

async function fromModule({ file, exportName }: EmbeddingSource & { kind: 'function' }): Promise<Embedder> {
  const exported = await importExport({ file, exportName });
  if (exported === undefined) throw new Error(`${file} has no export "${exportName}"`);
  if (typeof exported !== 'function' && !isEmbeddings(exported)) {
    throw new Error(`${file}: "${exportName}" is neither a function nor an Embeddings object`);
  }
  return exported as Embedder;
}

async function fromProvider(
  { provider, model, folder }: EmbeddingSource & { kind: 'provider' },
  dims: number,
): Promise<Embedder> {
  const known = PROVIDERS[provider];
  if (!known) {
    throw new Error(`"${provider}" is not a provider that Gantry knows: ${Object.keys(PROVIDERS).join(', ')}`);
  }
  const [packageName, className] = known;
  const module = (await import(locate(packageName, folder))) as { default?: Classes } & Classes;
  const Provider = module[className] ?? module.default?.[className];
  // Models with vectors of several lengths return the longest unless a length is requested.
  const dimensions = model.startsWith('text-embedding-3') ? { dimensions: dims } : {};
  return new Provider({ model, ...dimensions });
}

/** The project's own copy of a package, or Gantry's. */
function locate(packageName: string, folder: string): string {
  for (const from of [join(folder, 'langgraph.json'), __filename]) {
    try {
      return pathToFileURL(createRequire(from).resolve(packageName)).href;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  throw new Error(`the package ${packageName} is not installed: run "npm install ${packageName}" in your project`);
}

function isEmbeddings(value: unknown): value is Embeddings {
  return typeof value === 'object' && value !== null && 'embedDocuments' in value && 'embedQuery' in value;
}
