/** The plugins of the toy pipeline: one reads, one transforms, one renders; and some that are broken. */
import { definePlugin, deny } from '../../kernel/index.ts';
import { type Block, parser } from './pipeline.ts';

export const markdown = definePlugin({ id: 'markdown' }, (p) => {
  p.provide(parser, {
    parse: (source) =>
      source
        .split(/\n{2,}/)
        .map((part) => part.trim())
        .filter(Boolean)
        .map((part): Block => {
          const heading = /^(#+)\s+(.*)$/.exec(part);
          return heading ? { level: heading[1]?.length ?? 1, text: heading[2] ?? '' } : { text: part.replace(/\n/g, ' ') };
        }),
  });
});

/** Puts a table of contents behind the title. */
export const contents = definePlugin({ id: 'contents', requires: { services: [parser.key] } }, () => ({
  hooks: {
    'page.transform': (page) => {
      const [title, ...rest] = page.blocks;
      const headings = rest.filter(({ level }) => level !== undefined).map(({ text }) => text);
      return title && headings.length > 0 ? { ...page, blocks: [title, { text: `Contents: ${headings.join(', ')}` }, ...rest] } : page;
    },
  },
}));

export const html = definePlugin({ id: 'html' }, () => {
  const escape = (text: string) => text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`);
  return {
    formats: {
      html: {
        extension: 'html',
        render: ({ blocks }) => `${blocks.map(({ level, text }) => (level ? `<h${level}>${escape(text)}</h${level}>` : `<p>${escape(text)}</p>`)).join('\n')}\n`,
      },
    },
  };
});

/** Holds back what says that it is a draft. */
export const drafts = definePlugin({ id: 'drafts', capabilities: ['gate:page.publish'] }, () => ({
  hooks: { 'page.publish': (page) => (page.blocks.some(({ text }) => /draft/i.test(text)) ? deny('it is a draft') : undefined) },
}));

/** Breaks in every way it can, on the same hooks and points. */
export const broken = definePlugin({ id: 'broken' }, () => ({
  hooks: { 'page.transform': { stage: 'pre', run: (page) => ({ ...page, blocks: (page as unknown as { missing: { blocks: Block[] } }).missing.blocks }) } },
  formats: {
    txt: { extension: 'txt', render: () => { throw new Error('no ink'); } },
    pdf: { extension: 'pdf', render: (() => new Promise(() => undefined)) as never },
  },
}));
