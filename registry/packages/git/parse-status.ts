/** `git status --porcelain=v2 --branch --show-stash -z` */

export interface Change {
  readonly path: string;
  /** Where it was, of what was renamed or copied. */
  readonly from?: string;
  /** Of the index, against the last commit: a letter of git's, or `.` for none. */
  readonly staged: string;
  /** Of the working tree, against the index. */
  readonly unstaged: string;
  readonly isSubmodule: boolean;
}

export interface Status {
  /** undefined before the first commit */
  readonly commit?: string;
  /** undefined when HEAD is detached */
  readonly branch?: string;
  readonly upstream?: string;
  readonly ahead?: number;
  readonly behind?: number;
  readonly stashes: number;
  readonly changes: readonly Change[];
  /** Files with conflicts, and the two letters that say which. */
  readonly conflicts: readonly { readonly path: string; readonly kind: string }[];
  readonly untracked: readonly string[];
}

export function parseStatus(output: string): Status {
  const fields = output.split('\0');
  const changes: Change[] = [];
  const conflicts: { path: string; kind: string }[] = [];
  const untracked: string[] = [];
  const head = new Map<string, string>();
  for (let at = 0; at < fields.length; at += 1) {
    const field = fields[at] ?? '';
    switch (field[0]) {
      case '#': {
        const [, key = '', value = ''] = /^# (\S+) ?([\s\S]*)$/.exec(field) ?? [];
        head.set(key, value);
        break;
      }
      case '1':
        changes.push(change(field, 8));
        break;
      case '2':
        // The name it had is a field of its own.
        changes.push({ ...change(field, 9), from: fields[(at += 1)] ?? '' });
        break;
      case 'u':
        conflicts.push({ path: after(field, 10), kind: field.slice(2, 4) });
        break;
      case '?':
        untracked.push(field.slice(2));
        break;
    }
  }
  const [commit, branch, upstream] = [head.get('branch.oid'), head.get('branch.head'), head.get('branch.upstream')];
  const [, ahead, behind] = /^\+(\d+) -(\d+)$/.exec(head.get('branch.ab') ?? '') ?? [];
  return {
    ...(commit !== undefined && commit !== '(initial)' && { commit }),
    ...(branch !== undefined && branch !== '(detached)' && { branch }),
    ...(upstream !== undefined && { upstream }),
    ...(ahead !== undefined && { ahead: Number(ahead), behind: Number(behind) }),
    stashes: Number(head.get('stash') ?? 0),
    changes,
    conflicts,
    untracked,
  };
}

/** `1 XY sub mH mI mW hH hI path`; names may hold blanks, so only what is before them is split. */
function change(field: string, before: number): Change {
  return { path: after(field, before), staged: field[2] ?? '.', unstaged: field[3] ?? '.', isSubmodule: field[5] === 'S' };
}

function after(field: string, blanks: number): string {
  let at = -1;
  for (let count = 0; count < blanks; count += 1) at = field.indexOf(' ', at + 1);
  return field.slice(at + 1);
}
