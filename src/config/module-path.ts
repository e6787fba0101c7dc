import { resolve } from 'node:path';
import { z } from 'zod';

/** An export of a module of the project. */
export interface ModuleExport {
  /** Path of the module: relative in langgraph.json, absolute once it is resolved. */
  file: string;
  exportName: string;
}

/** `path/to/file.ts:export` of langgraph.json, relative to its folder. */
export const modulePath = z
  .string()
  .regex(/^.+:[A-Za-z_$][\w$]*$/, 'must be "path/to/file.ts:export"')
  .transform((source): ModuleExport => {
    const separator = source.lastIndexOf(':');
    return { file: source.slice(0, separator), exportName: source.slice(separator + 1) };
  });

/** @param folder of langgraph.json */
export const inFolder = (folder: string, { file, exportName }: ModuleExport): ModuleExport => ({
  file: resolve(folder, file),
  exportName,
});
