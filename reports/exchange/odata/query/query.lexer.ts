import { invalidQuery, notSupported } from '../odata.errors.ts';

export interface Token {
  kind:
    | 'string'
    | 'guid'
    | 'moment'
    | 'date'
    | 'decimal'
    | 'integer'
    | 'name'
    | 'system'
    | 'alias'
    | 'mark'
    | 'end';
  text: string;
  at: number;
}

/** Patterns in the order in which they are tried; each must end at a word boundary. */
const patterns: [Token['kind'], RegExp][] = [
  ['string', /'(?:[^']|'')*'/y],
  ['guid', /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![\w-])/iy],
  ['moment', /\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,12})?)?(?:Z|[+-]\d\d:\d\d)(?!\w)/iy],
  ['date', /\d{4}-\d\d-\d\d(?![\w-])/y],
  ['decimal', /\d{1,30}(?:\.\d{1,30}(?:e[+-]?\d{1,2})?|e[+-]?\d{1,2})(?![\w.])/iy],
  ['integer', /\d{1,30}(?![\w.])/y],
  ['name', /[a-z_]\w{0,127}(?:\.[a-z_]\w{0,127})*/iy],
  ['system', /\$[a-z]+/iy],
  ['alias', /@[a-z_]\w{0,127}/iy],
  ['mark', /[(),/:=;*-]/y],
];

/** Literals of types that no property has. */
const otherLiterals = new Set(['duration', 'binary', 'geography', 'geometry', 'guid', 'datetime', 'time']);

/** Splits an expression into tokens. @throws EstateError for text that is no token. */
export function tokensOf(text: string, option: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    while (text[at] === ' ' || text[at] === '\t') at += 1;
    if (at >= text.length) break;
    const token = tokenAt(text, at);
    if (!token) throw invalidQuery(option, `"${text.slice(at, at + 20)}" cannot be read`, at);
    if (token.kind === 'name' && text[at + token.text.length] === "'") {
      if (!otherLiterals.has(token.text.toLowerCase()) && !token.text.includes('.')) {
        throw invalidQuery(option, `a quote after "${token.text}" cannot be read`, at);
      }
      throw notSupported(
        option,
        `literals of the type ${token.text} are not supported: no property has this type`,
        at,
      );
    }
    tokens.push(token);
    at += token.text.length;
  }
  tokens.push({ kind: 'end', text: '', at: text.length });
  return tokens;
}

function tokenAt(text: string, at: number): Token | undefined {
  for (const [kind, pattern] of patterns) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) return { kind, text: found[0], at };
  }
  return undefined;
}
