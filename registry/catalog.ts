/** The catalog: the plugins that are installed by a short name, `agent plugin add git`. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isKernelError, KernelError, z } from 'newt-agent';
import { idPattern } from '../kernel/manifest.ts';

const place = join('registry', 'catalog.json');
/** The file is ours and small: what is larger is not it. */
const maxBytes = 1_000_000;
const maxPlugins = 1_000;

const line = (length: number) => z.string().min(1).max(length).regex(/^[^\p{Cc}]*$/u, 'must be one line of plain text');

const entrySchema = z.strictObject({
  package: z.string().max(214).regex(/^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*$/, 'must be a package name of npm').describe('Name of the package on npm'),
  folder: z.string().max(64).regex(/^[a-z0-9][a-z0-9-]*$/, 'must be the name of a folder below registry/packages').describe('Folder below registry/packages'),
  description: line(200).describe('One line, as in its package.json'),
  keywords: z.array(line(40)).max(20).describe('As in its package.json, without agent-plugin'),
  capabilities: z.array(line(80)).max(40).describe('What it asks for, as in its package.json'),
});

export const catalogSchema = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  plugins: z
    .record(z.string().regex(idPattern, 'must be a plugin id: lower-case letters, digits and dashes, at most 32, a letter first'), entrySchema)
    .refine((plugins) => Object.keys(plugins).length <= maxPlugins, `must be at most ${maxPlugins} plugins`),
});

export type CatalogEntry = Readonly<z.output<typeof entrySchema>>;
/** Entries by plugin id. */
export type Catalog = Readonly<Record<string, CatalogEntry>>;

export interface CatalogMatch {
  readonly id: string;
  readonly entry: CatalogEntry;
  /** Higher is better; only the order of the matches of one search says something. */
  readonly score: number;
}

/**
 * The folder of newt-agent that holds the catalog: the checkout, or the installed package.
 * @param from folder of the code that runs: `registry`, or with the bundle `dist` or `dist/chunks`
 */
export function agentFolder(from: string = import.meta.dirname): string {
  const above = dirname(from);
  // Without one the first is named in the error.
  return [above, dirname(above)].find((folder) => existsSync(join(folder, place))) ?? above;
}

/** Where the catalog lies. */
export function catalogFile(): string {
  return join(agentFolder(), place);
}

/**
 * The catalog that came with this agent.
 * @throws KernelError `CONFIG_UNREADABLE`, or `CONFIG_INVALID` naming file, key and fix
 */
export function readCatalog(file: string = catalogFile()): Catalog {
  let text: string;
  try {
    if (statSync(file).size > maxBytes) throw invalid(file, 'the file', `it has more than ${maxBytes} bytes`);
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (isKernelError(error)) throw error;
    throw new KernelError('CONFIG_UNREADABLE', { file, problem: (error as Error).message }, { cause: error });
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw invalid(file, 'JSON', (error as Error).message);
  }
  const checked = catalogSchema.safeParse(parsed);
  if (checked.success) return checked.data.plugins;
  const issue = checked.error.issues[0];
  throw invalid(file, issue?.path.join('.') || 'the file', reason(issue));
}

function reason(issue: z.core.$ZodIssue | undefined): string {
  // The message of a wrong key of a record says only that there is one.
  if (issue?.code === 'invalid_key') return issue.issues[0]?.message ?? issue.message;
  return issue?.message ?? 'invalid';
}

function invalid(file: string, key: string, problem: string): KernelError {
  return new KernelError('CONFIG_INVALID', { where: file, key, problem, hint: 'install newt-agent again, or correct that key: catalog.schema.json beside it says what it takes' });
}

/** Absolute path of the folder of a first-party plugin, which comes with the agent. */
export function packageFolder(entry: CatalogEntry): string {
  return join(agentFolder(), 'registry', 'packages', entry.folder);
}

/**
 * The plugins that fit the words, best first: those that fit more of them, then by where (id, keywords,
 * description), then by id. Without words all, by id.
 */
export function searchCatalog(catalog: Catalog, words: string | readonly string[]): CatalogMatch[] {
  const wanted = [words].flat().flatMap((one) => one.toLowerCase().split(/[\s,]+/)).filter(Boolean);
  return Object.entries(catalog)
    .map(([id, entry]) => {
      const scores = wanted.map((word) => scoreOf(word, id, entry));
      return { id, entry, score: scores.reduce((sum, one) => sum + one, 0), fitting: scores.filter((one) => one > 0).length };
    })
    .filter(({ fitting }) => fitting > 0 || wanted.length === 0)
    .sort((a, b) => b.fitting - a.fitting || b.score - a.score || (a.id < b.id ? -1 : 1))
    .map(({ id, entry, score }) => ({ id, entry, score }));
}

/** How well one word fits: whole words before beginnings before parts, and the id before keywords before the description. */
function scoreOf(word: string, id: string, { package: name, keywords, description }: CatalogEntry): number {
  const words = (text: string): string[] => text.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const grade = (texts: readonly string[], weight: number): number =>
    weight * (texts.includes(word) ? 3 : texts.some((text) => text.startsWith(word)) ? 2 : texts.some((text) => text.includes(word)) ? 1 : 0);
  return Math.max(grade([id, name], 16), grade(keywords.flatMap((one) => [one.toLowerCase(), ...words(one)]), 4), grade(words(description), 1));
}
