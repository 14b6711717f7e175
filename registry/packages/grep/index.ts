/** Searching code as text and as syntax, and rewriting it by pattern. */
import { definePlugin, z } from 'newt-agent';
import type { Engine } from './engine-process.ts';
import { grepAst } from './grep-ast.ts';
import { grepRewrite } from './grep-rewrite.ts';
import { grepText } from './grep-text.ts';

const config = z.strictObject({
  timeout: z.number().min(1).max(100).default(20).describe('Seconds a search may take'),
  languages_folder: z.string().optional().describe('Absolute path of a folder with packages @ast-grep/lang-* in its node_modules, for languages that do not come with this plugin'),
});

/** A preview for a person has ten seconds in all. */
const previewSeconds = 7;

export default definePlugin({ id: 'grep', activateOn: ['onDemand'], capabilities: ['exec', 'fs:write'], config }, (p) => {
  const { timeout, languages_folder: folder } = p.config;
  // Half of the code is the search itself: it is loaded with the first one, so that a start has less to do.
  const within = (seconds: number): Engine => async (request, signal) => (await import('./engine-process.ts')).createEngine(p, seconds)(request, signal);
  const engine = within(timeout);
  const quick = within(Math.min(timeout, previewSeconds));
  return { tools: { grep_text: grepText(engine), grep_ast: grepAst(engine, folder), grep_rewrite: grepRewrite(engine, quick, folder) } };
});
