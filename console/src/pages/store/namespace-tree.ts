/** A namespace with those below it. */
export interface Branch {
  label: string;
  path: string[];
  branches: Branch[];
}

/** Arranges namespaces as a tree with a branch for each label. */
export function treeOf(namespaces: string[][]): Branch[] {
  const byPath = new Map<string, Branch>();
  const roots: Branch[] = [];
  for (const namespace of namespaces) {
    let level = roots;
    namespace.forEach((label, index) => {
      const path = namespace.slice(0, index + 1);
      const key = JSON.stringify(path);
      let branch = byPath.get(key);
      if (!branch) {
        branch = { label, path, branches: [] };
        byPath.set(key, branch);
        level.push(branch);
      }
      level = branch.branches;
    });
  }
  const compare = new Intl.Collator().compare;
  for (const level of [roots, ...[...byPath.values()].map(({ branches }) => branches)]) {
    level.sort((a, b) => compare(a.label, b.label));
  }
  return roots;
}

/** A row of the tree as it is shown, from top to bottom. */
export interface Row extends Pick<Branch, 'label' | 'path'> {
  depth: number;
}

/** The rows of a tree, each above those below it. */
export function rowsOf(branches: Branch[], depth = 0): Row[] {
  return branches.flatMap(({ label, path, branches: below }) => [{ label, path, depth }, ...rowsOf(below, depth + 1)]);
}
