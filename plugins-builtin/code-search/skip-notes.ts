/** What a search left out that nobody told it to leave out: said, so that "nothing found" is not misread. */

export type SkipReason = 'node_modules' | 'unreadable' | 'too deep' | 'too large';

export interface SkipNotes {
  note(reason: SkipReason, path: string): void;
  /** One line for each reason that occurred. */
  lines(): string[];
}

const wording: Readonly<Record<SkipReason, string>> = {
  node_modules: 'not searched, because there is no .gitignore (give it as path to search it)',
  unreadable: 'could not be read',
  'too deep': 'nested too deep to search',
  'too large': 'above 10 MB and not searched',
};
const maxNamed = 3;

/** Collects what was skipped, by reason. */
export function skipNotes(): SkipNotes {
  const skipped = new Map<SkipReason, { count: number; readonly named: string[] }>();
  return {
    note(reason, path) {
      const entry = skipped.get(reason) ?? { count: 0, named: [] };
      skipped.set(reason, entry);
      entry.count += 1;
      if (entry.named.length < maxNamed) entry.named.push(path);
    },
    lines: () =>
      [...skipped].map(([reason, { count, named }]) => {
        const rest = count > named.length ? ` and ${count - named.length} more` : '';
        return `(${named.join(', ')}${rest}: ${wording[reason]})`;
      }),
  };
}
