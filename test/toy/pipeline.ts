/**
 * A toy application that is no agent: a Markdown pipeline. It uses `kernel/` alone, which proves that the
 * kernel knows no feature. The host reads and writes files; what happens between is plugins.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { builtin } from '../../kernel/discover.ts';
import { defineHook, defineService, definePlugin, definePoint, type Fault, type Hook } from '../../kernel/index.ts';
import { createKernel } from '../../kernel/kernel.ts';
import type { Candidate } from '../../kernel/lifecycle.ts';
import { complete } from '../../kernel/manifest.ts';
import type { HomePaths } from '../../kernel/paths.ts';

/** One block of a page: a heading of some level, or a paragraph. */
export interface Block {
  readonly level?: number;
  readonly text: string;
}

export interface Page {
  readonly name: string;
  readonly blocks: readonly Block[];
}

/** Turns the source of a page into blocks. */
export interface Parser {
  parse(source: string): readonly Block[];
}

/** One output format. */
export interface Format {
  readonly extension: string;
  render(page: Page): string;
}

export const parser = defineService<Parser>('pages.parser');

declare module '../../kernel/index.ts' {
  interface HookMap {
    'page.transform': Hook<'waterfall', Page>;
    'page.publish': Hook<'gate', Page>;
  }
  interface ContributionMap {
    formats: Format;
  }
}

export const pages = definePlugin({
  id: 'pages',
  defines: {
    hooks: [defineHook('page.transform', 'waterfall', { deadline: 200, check: (value) => Array.isArray((value as Page).blocks) }), defineHook('page.publish', 'gate', { fallback: { verdict: 'allow' } })],
    points: [definePoint('formats', { members: { render: { kind: 'call', deadline: 200, check: (value) => typeof value === 'string' } } })],
  },
}, () => ({}));

export interface Built {
  readonly written: readonly string[];
  readonly held: readonly string[];
  readonly faults: readonly Fault[];
}

/** Builds every page of `from` in every format into `to`. A plugin that fails costs its own part, not the site. */
export async function build(from: string, to: string, paths: HomePaths, plugins: readonly Candidate[]): Promise<Built> {
  const kernel = createKernel({ version: '1.0.0', paths, candidates: [builtin(complete(pages.static, 'pages'), async () => ({ default: pages })), ...plugins] });
  const faults: Fault[] = [];
  const written: string[] = [];
  const held: string[] = [];
  kernel.onFault((fault) => faults.push(fault));
  await kernel.start();
  mkdirSync(to, { recursive: true });
  for (const file of readdirSync(from).filter((name) => name.endsWith('.md')).sort()) {
    const source = readFileSync(join(from, file), 'utf8');
    const { parse } = kernel.use(parser.key) as Parser;
    const page = (await kernel.call('page.transform', { name: basename(file, '.md'), blocks: parse(source) })) as Page;
    const { verdict } = (await kernel.call('page.publish', page)) as { verdict: string };
    if (verdict !== 'allow') {
      held.push(page.name);
      continue;
    }
    for (const { item } of kernel.items('formats').values()) {
      const { extension, render } = item as unknown as { extension: string; render(page: Page): Promise<string> };
      const text = await render(page).catch(() => undefined);
      if (text === undefined) continue;
      writeFileSync(join(to, `${page.name}.${extension}`), text);
      written.push(`${page.name}.${extension}`);
    }
  }
  await kernel.dispose();
  return { written: written.sort(), held, faults };
}
