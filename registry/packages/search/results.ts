/** Results as they may be shown: addresses of the web alone, clean text, each address once. */
import { printable } from 'newt-agent';
import type { RawResult, SearchRequest } from './provider.ts';

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** Day, as far as the service tells it. */
  readonly date?: string;
}

const longestTitle = 200;
const longestSnippet = 500;
const longestUrl = 2_000;

/** The first `max` results that hold. */
export function cleanResults(raw: readonly RawResult[], { max, site }: SearchRequest): SearchResult[] {
  const found = new Map<string, SearchResult>();
  for (const { title, url, snippet, date } of raw) {
    const address = webAddress(url);
    if (address === undefined || found.has(address.href) || !isOf(address, site)) continue;
    const day = dayOf(date);
    found.set(address.href, { title: cleanText(title, longestTitle) || address.host, url: address.href, snippet: cleanText(snippet, longestSnippet), ...(day !== undefined && { date: day }) });
    if (found.size >= max) break;
  }
  return [...found.values()];
}

/** Undefined for what is not of the web, and for addresses that pretend to be another by a user name. */
function webAddress(url: string): URL | undefined {
  const address = URL.parse(url);
  const isWeb = address?.protocol === 'http:' || address?.protocol === 'https:';
  return isWeb && address.username === '' && address.password === '' && address.href.length <= longestUrl ? address : undefined;
}

function isOf({ hostname }: URL, site: string | undefined): boolean {
  return site === undefined || hostname === site || hostname.endsWith(`.${site}`);
}

/** One line, without what steers a terminal, reorders text or hides in it. */
export function cleanText(text: string, longest: number): string {
  const line = printable(text).replace(/[\u00ad\u200b-\u200f\u2028\u2029\u2060-\u206f\ufeff]/g, (hidden) => (/[\u2028\u2029]/.test(hidden) ? ' ' : '')).replace(/\s+/g, ' ').trim().toWellFormed();
  return line.length <= longest ? line : `${line.slice(0, longest - 1).toWellFormed()}…`;
}

/** The day of an ISO date; other dates in the words of the service. */
function dayOf(date: string | undefined): string | undefined {
  if (date === undefined) return undefined;
  return /^\d{4}-\d\d-\d\d/.exec(date)?.[0] ?? (cleanText(date, 40) || undefined);
}
