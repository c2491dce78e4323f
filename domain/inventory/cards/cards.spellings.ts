/** The spellings of a word, itself first. */
export type Spellings = (word: string) => readonly string[];

/** Letters that German keyboards have, as they are written without them. */
const written: Record<string, string> = { ä: 'ae', ö: 'oe', ü: 'ue' };

/** A text with `ae`, `oe` and `ue` for its umlauts; `ß` folds to `ss` anyhow. */
export const withoutUmlauts = (text: string): string =>
  text.normalize('NFC').replace(/[äöü]/giu, (letter) => written[letter.toLowerCase()]!);

/** Two letters that may stand for one umlaut; `ue` does not in `auen`, `neue` and `quer`. */
const PAIR = /[ao]e|(?<![aeq])ue/g;
/** Umlauts of a word that are tried in both spellings. */
const MOST_PAIRS = 3;

/** A folded word with each of its pairs as it is, and as a folded umlaut: `laeuten` and `lauten`. */
function pairSpellings(word: string): string[] {
  let found = [''];
  let from = 0;
  for (const { 0: pair, index } of [...word.matchAll(PAIR)].slice(0, MOST_PAIRS)) {
    const before = word.slice(from, index);
    found = found.flatMap((start) => [start + before + pair, start + before + pair[0]]);
    from = index + pair.length;
  }
  return found.map((start) => start + word.slice(from));
}

/**
 * The spellings of the words of a query: `laeuten` also finds `läuten`, and `läuten` finds `laeuten`.
 * @param words of the folded query. @param plain the same of the query {@link withoutUmlauts}, in the same places.
 */
export function spellingsOf(words: readonly string[], plain: readonly string[]): Spellings {
  const found = new Map<string, string[]>();
  for (const [at, word] of words.entries()) {
    const all = [...pairSpellings(word), ...(plain.length === words.length ? [plain[at]!] : [])];
    found.set(word, [...new Set([word, ...(found.get(word) ?? []), ...all])]);
  }
  return (word) => found.get(word) ?? [word];
}

/** A text in the spellings of its umlauts: as it is, with each pair such as `oe` as an umlaut, and without umlauts. */
export function spellingsOfText(text: string): string[] {
  return [...new Set([text, ...pairSpellings(text.toLowerCase()), withoutUmlauts(text)])];
}
