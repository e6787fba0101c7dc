/** A namespace with those below it. */
export interface Branch {
  label: string;
  path: string[];
  branches: Branch[];
}

/** Arranges namespaces as a tree with a branch for each label. */
export function treeOf(namespaces: string[][]): Branch[] {
  const roots: Branch[] = [];
  for (const namespace of namespaces) {
    let level = roots;
    namespace.forEach((label, index) => {
      let branch = level.find((each) => each.label === label);
      if (!branch) {
        branch = { label, path: namespace.slice(0, index + 1), branches: [] };
        level.push(branch);
        level.sort((a, b) => a.label.localeCompare(b.label));
      }
      level = branch.branches;
    });
  }
  return roots;
}
