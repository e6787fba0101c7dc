/** How processes for user code in Python are started. */
export interface PythonSettings {
  /** The interpreter in whose environment the project's dependencies are: a path, or a name to look up in PATH. */
  interpreter: string;
  /** Folders that follow all others on the import path. */
  importFolders: string[];
}
