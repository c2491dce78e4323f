/** One simple condition; `null` among the values of a list is the lack of a value. */
export interface Condition {
  /** A path of the filter language, such as `attributes.timeModel`. */
  field: string;
  operator: Operator;
  values: (string | null)[];
}

export type Operator =
  | '='
  | '!='
  | '<'
  | '<='
  | '>'
  | '>='
  | '~'
  | 'starts with'
  | 'in'
  | 'not in'
  | 'between'
  | 'is empty'
  | 'is not empty';

/** A part of a filter that is joined to the others by `and`: a simple condition, or any other text. */
export type Part = Condition | string;

interface Token {
  kind: 'word' | 'text' | 'symbol';
  /** Without its quotes. */
  text: string;
  from: number;
  to: number;
}

const LEXEME = /"(?:[^"\\]|\\.)*"|!=|<=|>=|[=<>~().,]|[+-]?[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*/gu;
const FIGURE = /[+-]?[0-9][\p{L}\p{N}_.:+-]*/uy;

/** The tokens of a filter; undefined if it has characters that belong to none. */
function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const blank = /\s+/y;
    blank.lastIndex = at;
    at += blank.exec(text)?.[0].length ?? 0;
    if (at >= text.length) break;
    FIGURE.lastIndex = at;
    LEXEME.lastIndex = at;
    const isName = tokens.at(-1)?.text === '.';
    const figure = isName ? null : FIGURE.exec(text);
    const found = figure ?? LEXEME.exec(text);
    if (!found || found.index !== at) return undefined;
    const [lexeme] = found;
    const quoted = lexeme.startsWith('"');
    const kind = quoted ? 'text' : /^[!=<>~().,]/.test(lexeme) ? 'symbol' : 'word';
    const own = quoted ? lexeme.slice(1, -1).replace(/\\(.)/g, '$1') : lexeme;
    tokens.push({ kind, text: own, from: at, to: at + lexeme.length });
    at += lexeme.length;
  }
  return tokens;
}

const isWord = (token: Token | undefined, word: string) =>
  token?.kind === 'word' && token.text.toLowerCase() === word;
const isSymbol = (token: Token | undefined, symbol: string) =>
  token?.kind === 'symbol' && token.text === symbol;

/** The parts of a filter that are joined by `and`; what is no simple condition stays text, so that nothing is lost. */
export function partsOf(filter: string | undefined): Part[] {
  const text = filter?.trim() ?? '';
  if (text === '') return [];
  const tokens = tokensOf(text);
  if (!tokens) return [text];
  const pieces: Token[][] = [[]];
  let depth = 0;
  let isBetween = false;
  for (const token of tokens) {
    if (isSymbol(token, '(')) depth += 1;
    if (isSymbol(token, ')')) depth -= 1;
    if (depth === 0 && isWord(token, 'or')) return [conditionOf(tokens) ?? text];
    if (depth === 0 && isWord(token, 'between')) isBetween = true;
    else if (depth === 0 && isWord(token, 'and')) {
      if (!isBetween) {
        pieces.push([]);
        continue;
      }
      isBetween = false;
    }
    pieces.at(-1)!.push(token);
  }
  return pieces.map((piece) => conditionOf(piece) ?? text.slice(piece[0]?.from ?? 0, piece.at(-1)?.to ?? 0));
}

/** The simple condition that tokens are. */
function conditionOf(tokens: Token[]): Condition | undefined {
  if (isSymbol(tokens[0], '(') && isSymbol(tokens.at(-1), ')')) return eitherOf(tokens.slice(1, -1));
  let at = 0;
  const names: string[] = [];
  while (tokens[at] && tokens[at]!.kind !== 'symbol') {
    const { kind, text } = tokens[at]!;
    names.push(kind === 'text' ? quoted(text) : text);
    at += 1;
    if (!isSymbol(tokens[at], '.')) break;
    at += 1;
  }
  if (names.length === 0 || isWord(tokens[0], 'not')) return undefined;
  const test = testOf(tokens.slice(at));
  return test && { field: names.join('.'), ...test };
}

/** Operators of words, each with the places of its values. */
const wordTests: { words: (string | null)[]; operator: Operator }[] = [
  { words: ['starts', 'with', null], operator: 'starts with' },
  { words: ['between', null, 'and', null], operator: 'between' },
  { words: ['exists'], operator: 'is not empty' },
  { words: ['is', 'empty'], operator: 'is empty' },
  { words: ['is', 'not', 'empty'], operator: 'is not empty' },
];

/** The operator and the values after a field. */
function testOf(tokens: Token[]): Omit<Condition, 'field'> | undefined {
  const [first, second] = tokens;
  if (first?.kind === 'symbol' && first.text !== '(')
    return second && second.kind !== 'symbol' && tokens.length === 2
      ? { operator: first.text as Operator, values: [second.text] }
      : undefined;
  for (const { words, operator } of wordTests) {
    const fits = (word: string | null, at: number) =>
      word === null ? tokens[at]!.kind !== 'symbol' : isWord(tokens[at], word);
    if (tokens.length === words.length && words.every(fits))
      return { operator, values: tokens.filter((_, at) => words[at] === null).map(({ text }) => text) };
  }
  const isNot = isWord(first, 'not');
  const list = tokens.slice(isNot ? 1 : 0);
  if (!isWord(list[0], 'in') || !isSymbol(list[1], '(') || !isSymbol(list.at(-1), ')')) return undefined;
  const inner = list.slice(2, -1);
  const isList = inner.every((token, n) => (n % 2 === 0 ? token.kind !== 'symbol' : isSymbol(token, ',')));
  if (!isList || inner.length % 2 === 0) return undefined;
  const values = inner.filter((_, n) => n % 2 === 0).map(({ text }) => text);
  return { operator: isNot ? 'not in' : 'in', values };
}

/** `x in (a) or x is empty`, which is one condition with `null` among its values. */
function eitherOf(tokens: Token[]): Condition | undefined {
  const at = tokens.findIndex((token) => isWord(token, 'or'));
  const one = at < 0 ? undefined : conditionOf(tokens.slice(0, at));
  const other = at < 0 ? undefined : conditionOf(tokens.slice(at + 1));
  if (one?.operator !== 'in' || other?.operator !== 'is empty' || one.field !== other.field) return undefined;
  return { ...one, values: [...one.values, null] };
}

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;
const PLAIN =
  /^(?!(?:and|or|not|null)$)(?:[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*|[+-]?[0-9][\p{L}\p{N}_.:+-]*)$/iu;
const valueText = (value: string) => (PLAIN.test(value) ? value : quoted(value));

/** A condition in the filter language. */
function conditionText({ field, operator, values }: Condition): string {
  const named = values.filter((value) => value !== null).map(valueText);
  if (operator === 'between') return `${field} between ${named[0]} and ${named[1]}`;
  if (operator === 'is empty' || operator === 'is not empty') return `${field} ${operator}`;
  if (operator !== 'in') {
    return operator === 'not in'
      ? `${field} not in (${named.join(', ')})`
      : `${field} ${operator} ${named[0]}`;
  }
  const list = `${field} in (${named.join(', ')})`;
  if (!values.includes(null)) return list;
  return named.length === 0 ? `${field} is empty` : `(${list} or ${field} is empty)`;
}

/** The filter of parts; undefined without any. */
export function filterText(parts: readonly Part[]): string | undefined {
  const hasOr = (text: string) => parts.length > 1 && /\bor\b/i.test(text) && !/^\(.*\)$|^not\b/i.test(text);
  const texts = parts.map((part) =>
    typeof part === 'string' ? (hasOr(part) ? `(${part})` : part) : conditionText(part),
  );
  return texts.length > 0 ? texts.join(' and ') : undefined;
}

/** The values that a filter selects of a field, and those that it excludes. */
export function chosenOf(parts: readonly Part[], field: string) {
  const chosen: (string | null)[] = [];
  const excluded: (string | null)[] = [];
  for (const part of parts) {
    if (typeof part === 'string' || part.field !== field) continue;
    if (part.operator === 'in' || part.operator === '=') chosen.push(...part.values);
    else if (part.operator === 'is empty') chosen.push(null);
    else if (part.operator === 'not in' || part.operator === '!=') excluded.push(...part.values);
    else if (part.operator === 'is not empty') excluded.push(null);
  }
  return { chosen, excluded };
}

const facetOperators: readonly Operator[] = ['in', '=', 'is empty', 'not in', '!=', 'is not empty'];

/** The filter after the choice of a value of a field was made or taken back; `isExcluded` for the cards without it. */
export function toggled(
  filter: string | undefined,
  field: string,
  value: string | null,
  isExcluded = false,
): string | undefined {
  const parts = partsOf(filter);
  const { chosen, excluded } = chosenOf(parts, field);
  const others = parts.filter(
    (part) => typeof part === 'string' || part.field !== field || !facetOperators.includes(part.operator),
  );
  const flip = (values: (string | null)[]) =>
    values.includes(value) ? values.filter((one) => one !== value) : [...values, value];
  const without = (values: (string | null)[]) => values.filter((one) => one !== value);
  const selected = isExcluded ? without(chosen) : flip(chosen);
  const left = isExcluded ? flip(excluded) : without(excluded);
  const own: Condition[] = [];
  if (selected.length > 0) own.push({ field, operator: 'in', values: selected });
  const named = left.filter((one) => one !== null);
  if (named.length > 0) own.push({ field, operator: 'not in', values: named });
  if (left.includes(null)) own.push({ field, operator: 'is not empty', values: [] });
  return filterText([...others, ...own]);
}
