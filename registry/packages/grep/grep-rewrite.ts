import { describeError, isOperational, type Json, OperationalError, revealed, type Tool, tool, type ToolCall, type ToolResult, z } from 'newt-agent';
import { writeAtomically } from './atomic-write.ts';
import { codeInput, codeQuery, languageFor, patternText, withAdvice } from './code-query.ts';
import type { Engine, Skipped } from './engine-process.ts';
import { maxCodeBytes } from './grep-ast.ts';
import { toolDeadline } from './grep-text.ts';
import { type Place, placeInput, placeRequest, placeText, searchPlace } from './place.ts';
import { answering, skipLines } from './result.ts';
import { diffOf, planFile, type PlannedFile, rememberShown, requireShown, requireUnchanged } from './rewrite-plan.ts';

const maxPlaces = 5_000;
const maxFilesChanged = 500;
const maxFiles = 200_000;
const shownLines = 200;
const nothingWritten = 'Nothing was written.';

const input = z.object({
  pattern: patternText.describe('code with $NAME for one node and $$$NAME for any number, such as console.log($$$ARGS)'),
  replacement: z.string().max(10_000).describe('code with the same $NAMEs; empty: the match is removed'),
  ...codeInput,
  ...placeInput,
  apply: z.boolean().optional().describe('write the files; default: only show the difference'),
});

type Input = z.output<typeof input>;

interface Plan {
  readonly place: Place;
  readonly files: readonly PlannedFile[];
  readonly skipped: readonly Skipped[];
  /** What it is remembered under. */
  readonly request: string;
  readonly nothing: string;
}

/**
 * Rewriting by pattern.
 *
 * @param quick the same engine with less time: what a person is asked about may not take long to show
 */
export function grepRewrite(engine: Engine, quick: Engine, languagesFolder: string | undefined): Tool {
  return tool({
    description: 'Rewrite code by ast-grep pattern, such as foo($A) to bar($A), in a file or folder. Shows a unified diff; with apply: true it writes. Outermost matches only; encoding, line endings and modes stay. A folder needs language.',
    input,
    effect: 'write',
    idempotent: false,
    deadline: toolDeadline,
    touches: ({ path = '.', apply }) => [{ path, access: apply ? 'write' : 'read' }],
    preview: (request, call) => preview(quick, languagesFolder, request, call),
    run: (request, call) =>
      answering(async () => {
        const plan = await makePlan(engine, languagesFolder, request, call);
        return request.apply ? apply(plan, call) : show(plan, call);
      }, nothingWritten),
  });
}

async function preview(engine: Engine, languagesFolder: string | undefined, request: Input, call: ToolCall): Promise<string> {
  if (!request.apply) return 'This only shows what would change.';
  try {
    const plan = await makePlan(engine, languagesFolder, request, call);
    if (plan.files.length === 0) return plan.nothing;
    requireShown(call.session, plan.request, plan.files);
    rememberShown(call.session, plan.request, plan.files);
    const lines = revealed(await diffOf(plan.files)).split('\n');
    const rest = lines.length - shownLines;
    return [total(plan.files), ...warnings(plan), ...lines.slice(0, shownLines), ...(rest > 0 ? [`… ${rest} more lines`] : [])].join('\n');
  } catch (error) {
    if (!isOperational(error)) throw error;
    return `This rewrite will fail: ${error.message}`;
  }
}

async function makePlan(engine: Engine, languagesFolder: string | undefined, request: Input, call: ToolCall): Promise<Plan> {
  const place = await searchPlace(request.path ?? '.', call);
  const language = languageFor(request, place);
  const extensions = language.grammars.flatMap((grammar) => grammar.extensions);
  const query = codeQuery(request, language, languagesFolder, request.replacement);
  const outcome = await engine({ place: placeRequest(place, request, extensions), query, limit: maxPlaces, maxFileBytes: maxCodeBytes, maxFiles }, call.signal).catch((error: unknown) => {
    throw isOperational(error) ? withAdvice(error) : error;
  });
  const { rewrites, skipped, stopped, hint } = outcome;
  if (stopped !== undefined) throw new OperationalError(`The search is incomplete: ${stopped}. Narrow the path.`);
  if (rewrites.length > maxFilesChanged) throw new OperationalError(`That would change ${rewrites.length} files, and at most ${maxFilesChanged} can be changed at once. Rewrite folder by folder.`);
  const files: PlannedFile[] = [];
  for (const record of rewrites) files.push(await planFile(place, record));
  const { apply: _, ...rest } = request;
  const nothing = `Nothing to change: in ${outcome.files} ${language.names[0]} ${outcome.files === 1 ? 'file' : 'files'} of ${placeText(request)} nothing matches ${request.pattern} that is not already as it should be.${hint === undefined ? '' : ` ${hint}`}`;
  return { place, files, skipped, request: JSON.stringify(rest), nothing };
}

async function show(plan: Plan, { session }: ToolCall): Promise<ToolResult> {
  const { place, files, skipped, request, nothing } = plan;
  if (files.length === 0) return { text: [nothing, ...skipLines(place, skipped)].join('\n') };
  rememberShown(session, request, files);
  return { text: [`${total(files)}; nothing is written yet, apply: true does it.`, ...warnings(plan), await diffOf(files)].join('\n'), data: dataOf(files, false) };
}

async function apply(plan: Plan, call: ToolCall): Promise<ToolResult> {
  const { place, files, skipped, request, nothing } = plan;
  if (files.length === 0) return { text: [nothing, ...skipLines(place, skipped)].join('\n') };
  requireShown(call.session, request, files);
  // All are looked at before the first is written.
  for (const file of files) await requireWritable(file, call);
  const written: PlannedFile[] = [];
  for (const file of files) {
    try {
      call.signal.throwIfAborted();
      await requireUnchanged(file);
      await writeAtomically(file.real, file.bytes);
      written.push(file);
    } catch (error) {
      const why = isOperational(error) ? error.message : `${file.shown} could not be written: ${(error as NodeJS.ErrnoException).code ?? describeError(error)}.`;
      if (written.length === 0) throw new OperationalError(why);
      const rest = files.slice(written.length).map(({ shown }) => shown);
      return { text: `${why} Written before that: ${written.map(({ shown }) => shown).join(', ')}. Not written: ${rest.join(', ')}.`, isError: true, data: dataOf(written, true) };
    }
  }
  return { text: [`Rewrote ${total(files)}.`, ...files.map(({ shown, edits }) => `${shown}: ${edits}`), ...warnings(plan)].join('\n'), data: dataOf(files, true) };
}

/** The folder was allowed; a file in it may be one that needs a word of its own, such as those of an `.agent` folder. */
async function requireWritable({ given, real, shown }: PlannedFile, call: ToolCall): Promise<void> {
  const allowed = await call.resolve(given, 'write').catch((error: unknown) => {
    throw isOperational(error) ? new OperationalError(`${error.message}. Leave it out with exclude, or give it as path, so that the person is asked about it.`) : error;
  });
  if (allowed !== real) throw new OperationalError(`${shown} leads somewhere else now. Look at it again.`);
}

function total(files: readonly PlannedFile[]): string {
  const places = files.reduce((sum, { edits }) => sum + edits, 0);
  return `${places} ${places === 1 ? 'place' : 'places'} in ${files.length} ${files.length === 1 ? 'file' : 'files'}`;
}

function warnings({ place, files, skipped }: Plan): string[] {
  const broken = files.filter(({ breaks }) => breaks).map(({ shown }) => shown);
  const nested = files.reduce((sum, file) => sum + file.nested, 0);
  return [
    ...(broken.length > 0 ? [`(Warning: after this, ${broken.join(', ')} no longer parses)`] : []),
    ...(nested > 0 ? [`(${nested} more within these matches; run it again for them)`] : []),
    ...skipLines(place, skipped),
  ];
}

function dataOf(files: readonly PlannedFile[], applied: boolean): Json {
  return { applied, files: files.map(({ given, edits, breaks }) => ({ path: given, edits, breaks })) };
}
