import { SaxesParser } from 'saxes';
import { safeLink } from './document.markdown.ts';
import type { Block, Cell, Inline } from './document.types.ts';

type Style = Omit<Inline, 'text'>;

const styles: Record<string, Style> = {
  strong: { bold: true },
  b: { bold: true },
  em: { italics: true },
  i: { italics: true },
  u: { underline: true },
  s: { strike: true },
  sub: { subscript: true },
  sup: { superscript: true },
  code: { code: true },
};

/** An open element: where its blocks are added, and its text style. */
interface Open {
  name: string;
  blocks: Block[];
  style: Style;
  items: Block[][];
  header: Cell[] | null;
  rows: Cell[][];
  cells: Cell[];
  heads: number;
  text: string;
}

/** Converts stored HTML to blocks; it is well-formed and only has allowed elements. */
export function htmlBlocks(html: string): Block[] {
  const root = opened('root', {});
  const stack: Open[] = [root];
  const top = () => stack.at(-1)!;
  const nearest = (...names: string[]) => stack.findLast(({ name }) => names.includes(name));

  const write = (text: string) => {
    const open = top();
    if (nearest('pre')) {
      nearest('pre')!.text += text;
      return;
    }
    const words = text === '\n' ? text : text.replace(/\s+/g, ' ');
    const holder = stack.findLast(({ name }) => !(name in styles) && name !== 'a')!;
    if (['table', 'thead', 'tbody', 'tfoot', 'tr', 'ul', 'ol'].includes(holder.name)) return;
    const last = holder.blocks.at(-1);
    const flowing = last?.kind === 'paragraph' && !closedParagraphs.has(last);
    if (!flowing && words.trim() === '' && text !== '\n') return;
    const paragraph = flowing ? last : { kind: 'paragraph' as const, inlines: [] as Inline[] };
    if (!flowing) holder.blocks.push(paragraph);
    paragraph.inlines.push({
      ...open.style,
      text: paragraph.inlines.length === 0 ? words.trimStart() : words,
    });
  };
  const closedParagraphs = new WeakSet<Block>();
  /** Ends the current paragraph. */
  const close = (blocks: Block[]) => {
    const last = blocks.at(-1);
    if (last) closedParagraphs.add(last);
  };

  const parser = new SaxesParser({ fragment: true });
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'br') return write('\n');
    const parent = top();
    if (!(name in styles) && name !== 'a') close(parent.blocks);
    if (name === 'hr') parent.blocks.push({ kind: 'rule' });
    const href = String(attributes.href ?? '');
    const link = name === 'a' && safeLink(href) ? { link: href } : {};
    stack.push(opened(name, { ...parent.style, ...styles[name], ...link }));
  });
  parser.on('text', write);
  parser.on('closetag', ({ name }) => {
    if (name === 'br') return;
    const done = stack.pop()!;
    const parent = top();
    if (name in styles || name === 'a' || name === 'hr') return;
    finish(done, parent);
    close(parent.blocks);
  });
  parser.write(html).close();
  return root.blocks;
}

const opened = (name: string, style: Style): Open => ({
  name,
  blocks: [],
  style,
  items: [],
  header: null,
  rows: [],
  cells: [],
  heads: 0,
  text: '',
});

/** Adds a closed element to its parent. */
function finish(done: Open, parent: Open): void {
  const { name, blocks } = done;
  if (/^h[1-6]$/.test(name)) {
    parent.blocks.push({ kind: 'heading', level: Math.min(6, Number(name[1]) + 2), inlines: flat(blocks) });
  } else if (name === 'li') parent.items.push(blocks);
  else if (name === 'ul' || name === 'ol') {
    if (done.items.length > 0) {
      parent.blocks.push({ kind: 'list', ordered: name === 'ol', start: 1, items: done.items });
    }
  } else if (name === 'blockquote') parent.blocks.push({ kind: 'quote', blocks });
  else if (name === 'pre') parent.blocks.push({ kind: 'code', text: done.text.replace(/^\n|\n$/g, '') });
  else if (name === 'td' || name === 'th') {
    parent.cells.push(flat(blocks));
    if (name === 'th') parent.heads += 1;
  } else if (name === 'tr') {
    const head = done.heads > 0 && done.heads === done.cells.length;
    if (head && parent.header === null && parent.rows.length === 0) parent.header = done.cells;
    else parent.rows.push(done.cells);
  } else if (['thead', 'tbody', 'tfoot'].includes(name)) {
    parent.header ??= done.header;
    parent.rows.push(...done.rows);
  } else if (name === 'table') {
    if (done.header || done.rows.length > 0) {
      parent.blocks.push({ kind: 'table', header: done.header, rows: done.rows });
    }
  } else {
    parent.blocks.push(...blocks);
  }
}

/** The text of blocks, one line each. */
function flat(blocks: Block[]): Inline[] {
  return blocks.flatMap((block, n): Inline[] => {
    const before: Inline[] = n > 0 ? [{ text: '\n' }] : [];
    switch (block.kind) {
      case 'heading':
      case 'paragraph':
        return [...before, ...block.inlines];
      case 'list':
        return [
          ...before,
          ...block.items.flatMap((item, at) => [{ text: at > 0 ? '\n• ' : '• ' }, ...flat(item)]),
        ];
      case 'quote':
        return [...before, ...flat(block.blocks)];
      case 'code':
        return [...before, { text: block.text, code: true }];
      case 'table':
        return [
          ...before,
          ...[...(block.header ? [block.header] : []), ...block.rows].flatMap((row, at) => [
            { text: at > 0 ? '\n' : '' },
            ...row.flatMap((cell, column) => [...(column > 0 ? [{ text: ' | ' }] : []), ...cell]),
          ]),
        ];
      default:
        return [];
    }
  });
}
