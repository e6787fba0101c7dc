import type { GraphLanguage } from './graph-language';

/** Where the embedding function comes from: a module of the project, or a provider's model by its name. */
export type EmbeddingSource =
  | { kind: 'function'; file: string; exportName: string; language: GraphLanguage }
  | { kind: 'provider'; provider: string; model: string; folder: string };

/** The `store` section of langgraph.json. Plain data: graph threads get it as it is. */
export interface StoreSettings {
  index?: {
    /** Length of the vectors. */
    dims: number;
    embed: EmbeddingSource;
    /** Which parts of a value are embedded unless its writer says. */
    fields: string[];
  };
  /** Minutes that an item lives whose writer doesn't say; without it, for ever. */
  defaultTtlMinutes?: number;
  /** Whether a read starts an item's time again. */
  refreshOnRead: boolean;
  /** Minutes between two removals of what has expired; without it, at each round of the sweeps. */
  sweepIntervalMinutes?: number;
}

/** The language whose processes embed: that of the function, and JavaScript's clients for models of providers. */
export function embeddingLanguage({ index }: StoreSettings): GraphLanguage | undefined {
  if (!index) return undefined;
  return index.embed.kind === 'function' ? index.embed.language : 'javascript';
}
