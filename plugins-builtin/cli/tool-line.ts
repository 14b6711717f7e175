/** A tool call in one line each for what is done and what came of it. */
import { type EventData, type Json, oneLine, printable, revealed } from 'newt-agent';

/** What tells one call from another, in the order it reads best. */
const tellingNames = ['command', 'pattern', 'query', 'url', 'path', 'name', 'id'];
const dispatcher = 'use_tool';

export interface CallTitle {
  readonly name: string;
  /** The telling arguments. */
  readonly subject: string;
}

/** The call as its reader thinks of it: what is dispatched rather than the dispatcher. */
export function callTitle(name: string, input: Json): CallTitle {
  if (!isObject(input)) return { name: fold(name), subject: typeof input === 'string' ? fold(input) : '' };
  const { name: target, args } = input;
  if (name === dispatcher && typeof target === 'string') return callTitle(target, args ?? {});
  const told = tellingNames.flatMap((key) => scalar(input[key]) ?? []);
  const [first] = Object.values(input).flatMap((value) => scalar(value) ?? []);
  return { name: fold(name), subject: told.length ? told.join(' ') : (first ?? '') };
}

/** What came of it, without its output: `12 lines`, `exit code 1, 0.4 s`, or the first line of an error. */
export function resultSummary({ text, isError, ms, spilled }: EventData<'tool.result'>): string {
  const lines = printable(text).split('\n').map((line) => line.trim()).filter(Boolean);
  // Tools put what is to say about their output in parentheses behind it.
  const note = /^\((.*)\)$/.exec(lines.at(-1) ?? '')?.[1];
  const gist = note ?? (isError ? (lines[0] ?? 'failed') : lines.length === 1 ? (lines[0] ?? '') : lines.length === 0 ? 'no output' : `${lines.length} lines`);
  const parts = [gist, note === undefined && ms >= 1_000 ? duration(ms) : '', spilled ? `in full: ${spilled}` : ''];
  return parts.filter(Boolean).join(' · ');
}

/** `0.4 s`, `1 min 5 s` */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  return seconds < 60 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function scalar(value: Json | undefined): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? fold(String(value)) || undefined : undefined;
}

function fold(text: string): string {
  return oneLine(revealed(text.trim().replace(/\s+/g, ' ')));
}
