/**
 * Which tools a request carries. The built-in core is sent; the tools of plugins are deferred behind
 * tool_search and use_tool, so that the request stays small however many plugins are installed.
 */
import { inputSchema, type Item, type Tool, tool, type ToolSchema, z } from 'newt-agent';

type Tools = ReadonlyMap<string, Item<Tool>>;

const listedBytes = 1_024;
const maxFound = 5;

export function coreSchemas(tools: Tools): ToolSchema[] {
  return [...tools.values()].filter(isCore).map((entry) => ({ ...schemaOf(entry), ...(entry.name === 'tool_search' && { description: searchDescription(tools) }) }));
}

function isCore({ tier }: Item<Tool>): boolean {
  return tier === 'builtin';
}

function schemaOf({ name, item }: Item<Tool>): ToolSchema {
  return { name, description: item.description, inputSchema: inputSchema(item) };
}

/** Names the deferred tools while they fit, and beyond that the plugins that bring them. */
function searchDescription(tools: Tools): string {
  const deferred = [...tools.values()].filter((entry) => !isCore(entry));
  const lead = 'Find more tools by words of their name or purpose; returns their schemas, for use_tool.';
  if (deferred.length === 0) return `${lead} None are installed now.`;
  const names = deferred.map(({ name }) => name).join(', ');
  if (Buffer.byteLength(names) <= listedBytes) return `${lead} Installed: ${names}`;
  const plugins = [...new Set(deferred.map(({ plugin }) => plugin))].join(', ');
  return `${lead} ${deferred.length} are installed, from the plugins: ${cut(plugins, listedBytes)}`;
}

function cut(text: string, bytes: number): string {
  return Buffer.byteLength(text) <= bytes ? text : `${Buffer.from(text).subarray(0, bytes - 3).toString().replace(/\uFFFD+$/, '')}…`;
}

export function searchTool(tools: () => Tools): Tool {
  return tool({
    description: 'Find more tools by words of their name or purpose; returns their schemas, for use_tool.',
    input: z.object({ query: z.string() }),
    effect: 'read',
    run: ({ query }) => {
      const words = query.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter(Boolean);
      const scored = [...tools().values()]
        .filter((entry) => !isCore(entry))
        .map((entry) => ({ entry, score: score(entry, words) }))
        .filter(({ score: points }) => points > 0 || words.length === 0)
        .sort((a, b) => b.score - a.score || (a.entry.name < b.entry.name ? -1 : 1));
      if (scored.length === 0) return { text: `No installed tool matches "${query}".` };
      const shown = scored.slice(0, maxFound).map(({ entry }) => JSON.stringify(schemaOf(entry)));
      const rest = scored.slice(maxFound).map(({ entry }) => entry.name);
      return { text: [...shown, ...(rest.length ? [`Also matching: ${rest.slice(0, 50).join(', ')}`] : [])].join('\n') };
    },
  });
}

function score({ name, plugin, item }: Item<Tool>, words: readonly string[]): number {
  const label = `${name} ${plugin}`.toLowerCase();
  const text = item.description.toLowerCase();
  return words.reduce((sum, word) => sum + (label.includes(word) ? 3 : 0) + (text.includes(word) ? 1 : 0), 0);
}

/** What use_tool was asked to call; the loop dispatches it through the same gate as a direct call. */
export const useTool = {
  name: 'use_tool',
  input: z.object({ name: z.string(), args: z.record(z.string(), z.json()).default({}) }),
};

export function dispatchTool(): Tool {
  return tool({
    description: 'Call a tool that tool_search found.',
    input: useTool.input,
    effect: 'read',
    run: ({ name }) => ({ text: `There is no tool "${name}". Look for one with tool_search.`, isError: true }),
  });
}

export const taskDone = {
  name: 'task_done',
  input: z.object({
    status: z.enum(['done', 'failed']),
    summary: z.string().trim().min(1),
    evidence: z.array(z.string()).default([]).describe('ids of the tool calls that show it'),
  }),
};

/** @param known tells whether a tool call id is in the log of the session */
export function taskDoneTool(known: (session: string, id: string) => boolean): Tool {
  return tool({
    description: 'Report that the task is done, or that it cannot be done.',
    input: taskDone.input,
    effect: 'read',
    run: ({ status, summary, evidence }, call) => {
      const unknown = evidence.filter((id) => !known(call.session.id, id));
      if (unknown.length) return { text: `No tool call has the id ${unknown.join(', ')}. Give ids of calls you made, or none.`, isError: true };
      return { text: summary, data: { status, summary, evidence } };
    },
  });
}
