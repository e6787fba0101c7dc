import { registerHooks } from 'node:module';

/** Change of a library's module, made to its source when a graph's copy of it is loaded: graphs bring copies of their own. */
export interface SourcePatch {
  /** Matches the end of the module's URL; the first group is the ending of the file: `cjs` or `js`. */
  module: RegExp;
  /** @returns the source to load instead */
  patch: (source: string, ending: 'cjs' | 'js') => string;
}

/** Applies patches to modules that are loaded from now on. To be called once. */
export function patchSources(patches: SourcePatch[]): void {
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      const source = loaded.source as string | Buffer | null | undefined;
      const applied = source ? patches.filter(({ module }) => module.test(url)) : [];
      if (applied.length === 0) return loaded;
      const patched = applied.reduce((text, { module, patch }) => {
        return patch(text, module.exec(url)![1] as 'cjs' | 'js');
      }, source!.toString());
      return { ...loaded, source: patched };
    },
  });
}
