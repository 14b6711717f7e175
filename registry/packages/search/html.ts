/** HTML of strangers: parsed by a parser, and no deeper than can be walked. */
import { OperationalError } from 'newt-agent';
import { DomHandler, DomUtils, Parser } from 'htmlparser2';

export type Page = DomHandler['dom'];
export type Element = NonNullable<ReturnType<typeof DomUtils.findOne>>;

const maxDepth = 300;

/** @throws OperationalError for a page that is nested without end */
export function parsePage(html: string): Page {
  let depth = 0;
  const handler = new DomHandler();
  const parser = new Parser({
    onparserinit: (one) => handler.onparserinit(one),
    onopentag(name, attributes) {
      depth += 1;
      if (depth > maxDepth) throw new OperationalError(`The page is nested more than ${maxDepth} levels deep, and is not read. Choose another provider.`);
      handler.onopentag(name, attributes);
    },
    onclosetag() {
      depth -= 1;
      handler.onclosetag();
    },
    ontext: (text) => handler.ontext(text),
    onend: () => handler.onend(),
  });
  parser.end(html);
  return handler.dom;
}

/** Elements with this class. */
export function withClass(nodes: Page, name: string): Element[] {
  return DomUtils.findAll((element) => hasClass(element, name), nodes);
}

export function hasClass({ attribs }: Element, name: string): boolean {
  return (attribs['class'] ?? '').split(/\s+/).includes(name);
}

export function textOf(nodes: Page | Element | undefined): string {
  return nodes === undefined ? '' : DomUtils.innerText(nodes);
}

/** The text of a piece of HTML, such as a snippet with marked words. */
export function textOfHtml(html: string): string {
  return /[<&]/.test(html) ? textOf(parsePage(html)) : html;
}
