/** Ignore files mean what they mean to git, wherever they lie. */
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryWorkspace } from '../../test/support/tool-call.ts';
import { plant } from './tree.testing.ts';
import { walk } from './walk.ts';

const names = ['a', 'b', 'ab', 'a.log', '.hid', 'c d', 'x[y]'];
const name = fc.constantFrom(...names);
const folder = fc.array(fc.constantFrom('a', 'b', 'c d', 'x[y]'), { maxLength: 3 }).map((parts) => parts.join('/'));
const piece = fc.oneof(name, fc.constantFrom('*', '**', '*.log', 'a*', '?', '[ab]', 'x\\[y\\]', '\\a', 'c d'));
const pattern = fc
  .tuple(fc.constantFrom('', '', '!'), fc.constantFrom('', '', '/'), fc.array(piece, { minLength: 1, maxLength: 3 }), fc.constantFrom('', '', '/'))
  .map(([negation, anchor, pieces, end]) => negation + anchor + pieces.join('/') + end);
const line = fc.oneof({ weight: 8, arbitrary: pattern }, fc.constantFrom('', '  ', '# a', '/', '!', '!/', 'a  '));

const tree = fc.record({
  files: fc.array(fc.tuple(folder, name), { minLength: 1, maxLength: 15 }),
  ignores: fc.array(fc.tuple(folder, fc.array(line, { minLength: 1, maxLength: 4 })), { maxLength: 3 }),
});

const at = (place: string, file: string): string => (place ? `${place}/${file}` : file);

async function walked(root: string): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of walk({ root, folder: '', signal: new AbortController().signal })) paths.push(path);
  return paths.sort();
}

test('a walk finds the files that git lists', async () => {
  await fc.assert(
    fc.asyncProperty(tree, async ({ files, ignores }) => {
      await using workspace = await temporaryWorkspace();
      const { cwd } = workspace;
      for (const [place, file] of files) {
        // Generated names may be a file here and a folder there; the first one stays.
        await plant(cwd, { [at(place, file)]: '' }).catch(() => undefined);
      }
      for (const [place, lines] of ignores) await plant(cwd, { [at(place, '.gitignore')]: lines.join('\n') }).catch(() => undefined);
      const git = (...args: string[]): string => execFileSync('git', ['-c', 'core.excludesFile=', ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
      git('init', '-q');
      const listed = git('ls-files', '-z', '--others', '--exclude-standard').split('\0').filter(Boolean).sort();
      expect(await walked(cwd)).toEqual(listed);
    }),
    { numRuns: 150 },
  );
});
