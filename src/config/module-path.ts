import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';

/** An export of a module of the project. */
export interface ModuleExport {
  /** Path of the module: relative in langgraph.json, absolute once it is resolved. */
  file: string;
  exportName: string;
}

const SCRIPT = /\.[cm]?[jt]sx?$/;

/**
 * `path/to/file.ts:export` of langgraph.json, relative to its folder, or `package.module:export` of Python. A script without a
 * name stands for its default export, as with `langgraph dev`.
 */
export const modulePath = z
  .string()
  .refine((source) => /^.+:[A-Za-z_$][\w$]*$/.test(source) || SCRIPT.test(source), 'must be "path/to/file.ts:export"')
  .transform((source): ModuleExport => {
    if (SCRIPT.test(source)) return { file: source, exportName: 'default' };
    const separator = source.lastIndexOf(':');
    return { file: source.slice(0, separator), exportName: source.slice(separator + 1) };
  });

/** Name by which Python imports a module. */
const DOTTED_NAME = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;

/** The file of a module that is named by its path, or as Python imports it from the project's folder or its `src`. */
function fileOf(folder: string, named: string): string {
  const path = resolve(folder, named);
  if (!DOTTED_NAME.test(named) || existsSync(path)) return path;
  const module = join(...named.split('.'));
  const files = ['', 'src'].flatMap((base) =>
    [`${module}.py`, join(module, '__init__.py')].map((each) => join(base, each)),
  );
  return files.map((each) => resolve(folder, each)).find(existsSync) ?? path;
}

/** @param folder of langgraph.json */
export const inFolder = (folder: string, { file, exportName }: ModuleExport): ModuleExport => ({
  file: fileOf(folder, file),
  exportName,
});
