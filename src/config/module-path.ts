import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { z } from 'zod';

/** An export of a module of the project. */
export interface ModuleExport {
  /** Path of the module: relative in langgraph.json, absolute once it is resolved. */
  file: string;
  exportName: string;
}

const SCRIPT = /\.[cm]?[jt]sx?$/;
/** The path of a file, which a dotted name could be as well. */
const FILE = /\.(?:[cm]?[jt]sx?|py)$/;

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

/** Where the modules of a langgraph.json are. */
export interface ModulePlaces {
  /** The folder of the langgraph.json, from which paths are. */
  folder: string;
  /** More folders from which Python imports modules. */
  importFolders: string[];
}

/** The file of a module that is named by its path, or as Python imports it: from one of these folders, or the project's `src`. */
function fileOf(places: ModulePlaces, named: string): string {
  const path = resolve(places.folder, named);
  if (!DOTTED_NAME.test(named) || existsSync(path)) return path;
  const module = join(...named.split('.'));
  const files = importedFrom(places).flatMap((base) =>
    [`${module}.py`, join(module, '__init__.py')].map((each) => join(base, each)),
  );
  return files.find(existsSync) ?? path;
}

const importedFrom = ({ folder, importFolders }: ModulePlaces): string[] => [
  folder,
  ...importFolders,
  join(folder, 'src'),
];

/** Describes the absence of a module that `locate` has not found. */
export function absence(places: ModulePlaces, file: string): string {
  const named = relative(places.folder, file);
  if (!DOTTED_NAME.test(named) || FILE.test(named)) return `there is no file ${file}`;
  return `there is no Python module ${named} in ${importedFrom(places).join(' or ')}`;
}

export const locate = (places: ModulePlaces, { file, exportName }: ModuleExport): ModuleExport => ({
  file: fileOf(places, file),
  exportName,
});
