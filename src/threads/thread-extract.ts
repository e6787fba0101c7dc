import { z } from 'zod';
import { isJsonObject } from '../database/json';

/** Fields that `extract` can read. */
export interface ExtractRoots {
  values: unknown;
  metadata: unknown;
  config: unknown;
  interrupts: unknown;
}
const ROOTS: (keyof ExtractRoots)[] = ['values', 'metadata', 'config', 'interrupts'];

const MAX_PATHS = 10;
const PATH = /^[^.[\]]+(\[-?\d+\])*(\.[^.[\]]+(\[-?\d+\])*)*$/;
const ALIAS = /^[A-Za-z_]\w*$/;

/**
 * Alias → path of a value that a search shows of each thread, as `values.messages[-1].content`.
 * @param taken names that an alias may not have: those of a thread's own fields
 */
export function extractSchema(taken: readonly string[]) {
  return z
    .record(
      z
        .string()
        .regex(ALIAS, 'must be letters, digits and _, beginning with a letter or _')
        .refine((alias) => !taken.includes(alias), 'is the name of a field of threads'),
      z
        .string()
        .regex(PATH, 'must be a path like values.messages[-1].content')
        .refine((path) => ROOTS.includes(segmentsOf(path)[0] as never), `must begin with ${ROOTS.join(', ')}`),
    )
    .refine((paths) => Object.keys(paths).length <= MAX_PATHS, `may have ${MAX_PATHS} paths at the most`);
}

/** The values at the paths; null where there is none, and where a segment begins with `_`: those are private. */
export function extract(roots: ExtractRoots, paths: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(paths).map(([alias, path]) => [alias, valueAt(roots, segmentsOf(path))]));
}

function segmentsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[(-?\d+)\]|([^.[\]]+)/g)].map(([, index, key]) => (index ? Number(index) : key));
}

function valueAt(root: unknown, segments: (string | number)[]): unknown {
  let value = root;
  for (const segment of segments) {
    if (typeof segment === 'number') value = Array.isArray(value) ? (value.at(segment) as unknown) : undefined;
    else if (segment.startsWith('_') || !isJsonObject(value) || !Object.hasOwn(value, segment)) return null;
    else value = value[segment];
  }
  return value ?? null;
}
