import type { JsonObject } from '../database/json';
import type { Filter } from './store-filter';

export interface StoredItem {
  namespace: string[];
  key: string;
  value: JsonObject;
  createdAt: Date;
  updatedAt: Date;
  /** When it expires unless it is refreshed; null for an item that stays. */
  expiresAt: Date | null;
  /** Similarity to the query, at most 1; null without a query, or for an item that has no embedding. */
  score: number | null;
}

export interface ItemToPut {
  namespace: string[];
  key: string;
  value: JsonObject;
  /** Minutes; null for an item that stays. */
  ttlMinutes: number | null;
  /** Vectors of length 1 by field. Undefined when the deployment embeds nothing. */
  embeddings?: Map<string, number[]>;
}

export interface ItemSearch {
  prefix: string[];
  filter: Filter;
  limit: number;
  offset: number;
  /** Vector of length 1; the items nearest to it come first. */
  near?: number[];
}

export interface NamespaceSearch {
  prefix: string[];
  suffix: string[];
  maxDepth?: number;
  limit: number;
  offset: number;
}
