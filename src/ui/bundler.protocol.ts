/** Task of a bundler process. */
export interface BundleRequest {
  /** The project's folder, where the paths of components begin. */
  folder: string;
  /** Name → path of the module with the components, from the folder. */
  uis: Record<string, string>;
  /** Packages that the page brings, beside React and the SDK: they stay out of bundles. */
  shared: string[];
}

export interface BundledFile {
  basename: string;
  content: Uint8Array;
}

/** One for each name: its files, or why there are none. */
export type BundleAnswer = { name: string; files: BundledFile[] } | { name: string; error: string };
