import { isOperational, OperationalError, type Tool, tool, type ToolCall, type ToolResult, z } from 'newt-agent';
import { codeInput, codeQuery, languageFor, patternText, withAdvice } from './code-query.ts';
import type { Engine } from './engine-process.ts';
import { toolDeadline } from './grep-text.ts';
import { placeInput, placeRequest, placeText, searchPlace } from './place.ts';
import { answering, searchResult } from './result.ts';

const defaultMatches = 100;
const maxMatches = 1_000;
/** A syntax tree takes some thirty times the memory of its text. */
export const maxCodeBytes = 2_000_000;
const maxFiles = 200_000;

const input = z.object({
  pattern: patternText.optional().describe('code with $NAME for one node and $$$NAME for any number, such as console.log($$$ARGS)'),
  kind: z.string().min(1).max(100).optional().describe('kind of tree-sitter node, such as function_declaration; instead of pattern or beside it'),
  ...codeInput,
  ...placeInput,
  max_results: z.int().min(1).max(maxMatches).optional().describe(`default ${defaultMatches}`),
});

type Input = z.output<typeof input>;

/** Search in syntax trees. */
export function grepAst(engine: Engine, languagesFolder: string | undefined): Tool {
  return tool({
    description: 'Search code by its syntax with an ast-grep pattern, in 20 languages; answers path:line:column: line, and what $NAMEs stand for. Spacing, comments and line breaks do not matter. A folder needs language.',
    input,
    effect: 'read',
    deadline: toolDeadline,
    touches: ({ path = '.' }) => [{ path, access: 'read' }],
    run: (request, call) => answering(() => search(engine, languagesFolder, request, call)),
  });
}

async function search(engine: Engine, languagesFolder: string | undefined, request: Input, call: ToolCall): Promise<ToolResult> {
  if (request.pattern === undefined && request.kind === undefined) throw new OperationalError('Give pattern, kind, or both.');
  const place = await searchPlace(request.path ?? '.', call);
  const language = languageFor(request, place);
  const limit = request.max_results ?? defaultMatches;
  const extensions = language.grammars.flatMap((grammar) => grammar.extensions);
  const outcome = await engine({ place: placeRequest(place, request, extensions), query: codeQuery(request, language, languagesFolder), limit, maxFileBytes: maxCodeBytes, maxFiles }, call.signal).catch((error: unknown) => {
    throw isOperational(error) ? withAdvice(error) : error;
  });
  const what = [request.pattern, request.kind === undefined ? undefined : `a ${request.kind}`].filter((part) => part !== undefined).join(' as ');
  return searchResult(place, outcome, { nothing: `Nothing in ${outcome.files} ${language.names[0]} ${outcome.files === 1 ? 'file' : 'files'} of ${placeText(request)} matches ${what}.`, limit, maxLimit: maxMatches });
}
