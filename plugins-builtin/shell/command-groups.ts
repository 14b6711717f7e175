/** The process groups of commands that run, or that left processes behind, by session. */
import type { Disposable, ProcessGuardian, ToolSession } from 'newt-agent';
import { endGroups, isGroupAlive } from './process-group.ts';

export interface CommandGroups {
  /** Records a group until {@link settle} finds it empty. */
  add(session: ToolSession, group: number): void;
  /** Forgets the groups that have ended: the system may give their number to a stranger. */
  settle(): void;
  /** Ends what a session left behind. */
  endSession(id: string): Promise<void>;
  /** Ends everything. The signals to end are sent before this returns. */
  endAll(): Promise<void>;
}

/** Key of a session's groups, a `Set` of numbers, in its memory. */
export const memoryKey = 'shell.background';

const grace = 1_000;

export function commandGroups(guardian: ProcessGuardian): CommandGroups {
  const sessions = new Map<string, Set<number>>();
  const guards = new Map<number, Disposable>();

  const prune = (): void => {
    for (const groups of sessions.values()) {
      for (const group of groups) {
        if (isGroupAlive(group)) continue;
        groups.delete(group);
        void guards.get(group)?.dispose();
        guards.delete(group);
      }
    }
  };

  return {
    add(session, group) {
      const groups = groupsIn(session);
      sessions.set(session.id, groups);
      groups.add(group);
      guards.set(group, guardian.guard(group));
    },
    settle: prune,
    async endSession(id) {
      const groups = sessions.get(id);
      if (!groups) return;
      await endGroups([...groups], grace);
      prune();
      if (groups.size === 0) sessions.delete(id);
    },
    async endAll() {
      await endGroups([...sessions.values()].flatMap((groups) => [...groups]), grace);
      prune();
    },
  };
}

function groupsIn(session: ToolSession): Set<number> {
  const known = session.memory.get(memoryKey);
  if (known instanceof Set) return known as Set<number>;
  const groups = new Set<number>();
  session.memory.set(memoryKey, groups);
  return groups;
}
