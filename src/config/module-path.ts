import { resolve } from 'node:path';
import { z } from 'zod';

/** An export of a module of the project. */
export interface ModuleExport {
  /** Path of the module: relative in langgraph.json, absolute once it is resolved. */
  file: string;
  exportName: string;
}

const SCRIPT = /\.[cm]?[jt]sx?$/;

/**
 * `path/to/file.ts:export` of langgraph.json, relative to its folder. A script without a name stands for its default export,
 * as with `langgraph dev`.
 */
export const modulePath = z
  .string()
  .refine((source) => /^.+:[A-Za-z_$][\w$]*$/.test(source) || SCRIPT.test(source), 'must be "path/to/file.ts:export"')
  .transform((source): ModuleExport => {
    if (SCRIPT.test(source)) return { file: source, exportName: 'default' };
    const separator = source.lastIndexOf(':');
    return { file: source.slice(0, separator), exportName: source.slice(separator + 1) };
  });

/** @param folder of langgraph.json */
export const inFolder = (folder: string, { file, exportName }: ModuleExport): ModuleExport => ({
  file: resolve(folder, file),
  exportName,
});
