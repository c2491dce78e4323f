import { Lexer, type Token, type Tokens, type TokensList } from 'marked';
import type { Block, Inline } from './document.types.ts';

/** Maximum nesting of lists and quotes; deeper ones are shown as text. */
const DEPTH = 20;
/**
 * Maximum characters of a list item or quote that is parsed for nested blocks, which takes quadratic time; a longer one is
 * shown as text.
 */
const MOST_NESTED = 20_000;

/** Converts Markdown to blocks; HTML in it is shown as text. */
export function markdownBlocks(text: string | null, level = 2): Block[] {
  if (text === null) return [];
  try {
    return blocksOf(new BoundedLexer().lex(text), level, 0);
  } catch (error) {
    // thousands of nested quotes overflow the parser's stack
    if (!(error instanceof RangeError)) throw error;
    return text.split(/\n\s*\n/).map(plain);
  }
}

/** Maximum characters of a paragraph that is parsed for emphasis and links, which takes quadratic time. */
const MOST_INLINE = 5_000;

class BoundedLexer extends Lexer {
  private depth = 0;

  override blockTokens(src: string, tokens: Token[] = [], clipped = false): TokensList & Token[] {
    if (this.depth > DEPTH || (this.depth > 0 && src.length > MOST_NESTED)) {
      for (const text of src.split(/\n[^\S\n]*\n/)) {
        if (text.trim()) tokens.push({ type: 'text', raw: text, text } as Tokens.Text);
      }
      return tokens as TokensList & Token[];
    }
    this.depth += 1;
    try {
      return super.blockTokens(src, tokens, clipped) as TokensList & Token[];
    } finally {
      this.depth -= 1;
    }
  }

  override inlineTokens(src: string, tokens: Token[] = []): Token[] {
    if (src.length <= MOST_INLINE) return super.inlineTokens(src, tokens);
    tokens.push({ type: 'text', raw: src, text: src } as Tokens.Text);
    return tokens;
  }
}

function blocksOf(tokens: Token[], level: number, depth: number): Block[] {
  return tokens.flatMap((token): Block[] => {
    if (depth > DEPTH) return token.raw.trim() ? [plain(token.raw)] : [];
    switch (token.type) {
      case 'heading': {
        // below the level of the enclosing heading
        const inlines = inlinesOf(token.tokens ?? []);
        return [{ kind: 'heading', level: Math.min(6, token.depth + level - 1), inlines }];
      }
      case 'list': {
        const list = token as Tokens.List;
        const items = list.items.map((item) => {
          const box = item.task ? [{ text: item.checked ? '[x] ' : '[ ] ' }] : [];
          const blocks = blocksOf(item.tokens, level, depth + 1);
          const [first, ...rest] = blocks;
          if (box.length === 0 || first?.kind !== 'paragraph') return blocks;
          return [{ ...first, inlines: [...box, ...first.inlines] }, ...rest];
        });
        return [{ kind: 'list', ordered: list.ordered, start: Number(list.start) || 1, items }];
      }
      case 'blockquote':
        return [{ kind: 'quote', blocks: blocksOf(token.tokens ?? [], level, depth + 1) }];
      case 'code':
        return [{ kind: 'code', text: token.text }];
      case 'table': {
        const table = token as Tokens.Table;
        const cells = (row: Tokens.TableCell[]) => row.map((cell) => inlinesOf(cell.tokens));
        return [
          {
            kind: 'table',
            header: cells(table.header),
            rows: table.rows.map(cells),
            ...(table.align.some((align) => align !== null) ? { align: table.align } : {}),
          },
        ];
      }
      case 'hr':
        return [{ kind: 'rule' }];
      case 'space':
      case 'def':
      case 'checkbox':
        return [];
      case 'html':
        return /^\s*<!--[\s\S]*-->\s*$/.test(token.raw) ? [] : [plain(token.raw)];
      default:
        return [
          {
            kind: 'paragraph',
            inlines: inlinesOf(('tokens' in token ? token.tokens : undefined) ?? [token]),
          },
        ];
    }
  });
}

const plain = (raw: string): Block => ({ kind: 'paragraph', inlines: [{ text: raw.trim() }] });

function inlinesOf(tokens: Token[], style: Omit<Inline, 'text'> = {}): Inline[] {
  return tokens.flatMap((token): Inline[] => {
    const inside = 'tokens' in token ? token.tokens : undefined;
    const inner = (more: Omit<Inline, 'text'>) => inlinesOf(inside ?? [], { ...style, ...more });
    switch (token.type) {
      case 'strong':
        return inner({ bold: true });
      case 'em':
        return inner({ italics: true });
      case 'del':
        return inner({ strike: true });
      case 'codespan':
        return [{ ...style, text: token.text, code: true }];
      case 'br':
        return [{ ...style, text: '\n' }];
      case 'link':
        return inner(safeLink(token.href) ? { link: token.href } : {});
      case 'image':
        return [{ ...style, text: token.text || token.href }];
      case 'checkbox':
        return [];
      case 'escape':
        return [{ ...style, text: token.text }];
      case 'text':
        if (inside) return inlinesOf(inside, style);
        // a soft line break is a space
        return [{ ...style, text: oneLine(decoded(token.text)) }];
      default:
        return [{ ...style, text: token.raw }];
    }
  });
}

/** Replaces line breaks by spaces, in linear time for any number of blanks. */
const oneLine = (text: string): string => {
  const lines = text.split('\n');
  const ends = lines.map((line, n) => (n < lines.length - 1 ? line.trimEnd() : line));
  return ends.map((line, n) => (n > 0 ? line.trimStart() : line)).join(' ');
};

export const safeLink = (href: string): boolean => /^(https?:\/\/|mailto:)/i.test(href);

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: '\u00a0',
};
const decoded = (text: string): string =>
  text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => entities[name] ?? whole);
