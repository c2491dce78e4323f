/** A word, a figure, a quoted text or a comma of a question. */
export interface Word {
  kind: 'word' | 'number' | 'day' | 'quoted' | 'comma' | 'sign';
  /** As it was written. */
  text: string;
  /** Without case, accents and the ending of plurals; of quoted text the text in quotes. */
  norm: string;
  /** Whether the word is a plural. */
  isPlural?: boolean;
  /** Whether a minus is before the figure. */
  isNegative?: boolean;
  /** Where it is in the question. */
  at: number;
  /** The words of the question that it stands for, if it is not one of them itself. */
  of?: readonly Word[];
}

/** The words of a question that others stand for, each once, as they were written. */
export const asWritten = (words: readonly Word[]): string =>
  [...new Set(words.flatMap((word) => word.of ?? [word]))]
    .sort((a, b) => a.at - b.at)
    .map(({ text }) => text)
    .join(' ');

const pattern =
  /"([^"]*)"|“([^”]*)”|(\d{4}-\d{2}-\d{2})(?!\d)|((?:(?<![\p{L}\p{N}])[-−–]|(?<![\p{N}]\s*)[-−–] )(?!\d{4}-\d{2}-\d{2}))?(\d+(?:[.,]\d+)*)\s?(k|m|bn|%)?(?![\p{L}\p{N}])|([\p{L}\p{N}]+(?:['’]s\b)?)|(,)|(>=|<=|[<>=])/giu;

/** The parts of a question, in order. Other signs only separate. */
export function wordsOf(question: string): Word[] {
  return [...question.matchAll(pattern)].map((match): Word => {
    const [text, straight, curly, day, minus, figure, unit, word, comma] = match;
    const at = match.index;
    const quoted = straight ?? curly;
    if (quoted !== undefined) return { kind: 'quoted', text, norm: quoted, at };
    if (day !== undefined) return { kind: 'day', text, norm: day, at };
    if (figure !== undefined) {
      const norm = String(figureOf(figure, unit));
      return { kind: 'number', text, norm, at, ...(minus === undefined ? {} : { isNegative: true }) };
    }
    if (comma !== undefined) return { kind: 'comma', text, norm: ',', at };
    if (word !== undefined)
      return { kind: 'word', text, norm: normalised(word), isPlural: /s$/i.test(word), at };
    return { kind: 'sign', text, norm: text, at };
  });
}

const scale: Record<string, number> = { k: 1e3, m: 1e6, bn: 1e9, '%': 1 };

/** `1,000,000` is a million, `1.5` and `1,5` one and a half. */
function figureOf(figure: string, unit = ''): number {
  const grouped = /^\d{1,3}([.,]\d{3})+$/.test(figure);
  const plain = grouped ? figure.replace(/[.,]/g, '') : figure.replace(',', '.');
  return Number(plain) * (scale[unit.toLowerCase()] ?? 1);
}

/** A word as it is compared: singular and plural, `Café` and `cafe` are the same. */
export function normalised(word: string): string {
  // an abbreviation and its plural: APIs
  if (/^\p{Lu}{2,}s$/u.test(word)) return word.slice(0, -1).toLowerCase();
  const folded = word
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/['’]s$/, '');
  if (/ies$/.test(folded) && folded.length > 4) return `${folded.slice(0, -3)}y`;
  if (/(ss|x|ch|sh|z)es$/.test(folded)) return folded.slice(0, -2);
  if (/[^sui]s$/.test(folded) && folded.length > 3) return folded.slice(0, -1);
  return folded;
}

/** The words of a name or key, as they are compared: `costTotalAnnual` has three. */
export function phraseOf(name: string): string[] {
  return name
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .map(normalised);
}
