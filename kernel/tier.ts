/** The four tiers. */
export type Tier = 'builtin' | 'project' | 'global' | 'npm';

/** Who wins an id or a name: earlier is stronger. */
export const precedence: readonly Tier[] = ['builtin', 'project', 'global', 'npm'];

/** Who runs first, all else being equal: the last word belongs to what is closest to the work. */
export const runOrder: readonly Tier[] = ['builtin', 'npm', 'global', 'project'];
