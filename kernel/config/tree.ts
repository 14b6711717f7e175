/** Plain trees of settings: every operation defines own members only, so no key can reach a prototype. */

export type Path = readonly (string | number)[];
export type Tree = { [key: string]: unknown };

export function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at `path`. */
export function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, key) => (typeof inner === 'object' && inner !== null && Object.hasOwn(inner, key) ? (inner as Tree)[key] : undefined), value);
}

/** `above` laid over `below`: maps merge, everything else is replaced. */
export function merge(below: Tree, above: Tree): Tree {
  const laid = Object.entries(above).map(([key, value]): [string, unknown] => {
    const under = at(below, [key]);
    return [key, isTree(value) && isTree(under) ? merge(under, value) : value];
  });
  return Object.fromEntries([...Object.entries(below), ...laid]);
}

/** The tree that has `value` at `path` and nothing else. */
export function nest(path: Path, value: unknown): Tree {
  return path.reduceRight<unknown>((inner, key) => Object.fromEntries([[key, inner]]), value) as Tree;
}

/** `tree` without what lies at `path`; members of a list keep their places. */
export function without(tree: Tree, path: Path): Tree {
  const [key, ...rest] = path;
  const inner = at(tree, [key ?? '']);
  if (rest.length === 0) return Object.fromEntries(Object.entries(tree).filter(([name]) => name !== String(key)));
  // Of a list, one wrong member makes the whole wrong.
  if (!isTree(inner)) return without(tree, path.slice(0, 1));
  return Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, name === String(key) ? without(inner, rest) : value]));
}
